// How a session and its turns fare.

import * as z from "zod";
import { envelope, turnEnvelope } from "./envelope.ts";

/** Why nothing runs. `requires_action` names the events whose calls wait for an answer. */
const stopReason = z.discriminatedUnion("type", [
  z.strictObject({ type: z.enum(["end_turn", "retries_exhausted", "refusal"]) }),
  z.strictObject({ type: z.literal("requires_action"), event_ids: z.array(z.string()) }),
]);

export type StopReason = z.infer<typeof stopReason>;

const running = z.strictObject({ ...turnEnvelope, type: z.literal("session.status_running") });

const idle = z.strictObject({
  ...turnEnvelope,
  type: z.literal("session.status_idle"),
  stop_reason: stopReason,
  stop_details: z.null(),
});

/** The turn goes on by itself after a pause. */
const rescheduled = z.strictObject({
  ...turnEnvelope,
  type: z.literal("session.status_rescheduled"),
});

const errorObject = z.strictObject({
  type: z.enum([
    "unknown_error",
    "model_overloaded_error",
    "model_rate_limited_error",
    "model_request_failed_error",
    "tool_use_limit_reached_error",
  ]),
  /** For people: no content, and what comes next. */
  message: z.string(),
  /** `exhausted` ended the turn. */
  retry_status: z.strictObject({ type: z.enum(["retrying", "exhausted"]) }),
});

/** The `error` of a `session.error`. */
export type SessionError = z.infer<typeof errorObject>;

const error = z.strictObject({
  ...turnEnvelope,
  type: z.literal("session.error"),
  error: errorObject,
});

const usageSnapshot = z.strictObject({
  input_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  cache_creation: z.strictObject({
    ephemeral_5m_input_tokens: z.number(),
    ephemeral_1h_input_tokens: z.number(),
  }),
  output_tokens: z.number(),
  /** `amount` is in whole cents. */
  list_cost: z.strictObject({ amount: z.string(), currency: z.literal("USD") }),
});

/** The tokens of a session so far. */
export type UsageSnapshot = z.infer<typeof usageSnapshot>;

const usage = z.strictObject({
  ...turnEnvelope,
  type: z.literal("session.usage"),
  usage: usageSnapshot,
  budget: z.null(),
});

/** The last event: the log is cleared with it. It belongs to no turn. */
const deleted = z.strictObject({ ...envelope, type: z.literal("session.deleted") });

/** A message that came while a turn ran became part of it. */
const joined = z.strictObject({
  ...turnEnvelope,
  type: z.literal("turn.joined"),
  /** Id of that `user.message`. */
  message_id: z.string(),
});

export const sessionEvents = [running, idle, rescheduled, error, usage, deleted, joined] as const;
