// What the events of a session's log have in common.

import * as z from "zod";

/** What the log stamps on every event. */
export const envelope = {
  /** Place in the log, counted from 1 without a gap. */
  seq: z.int().positive(),
  /** `sevt_…` */
  id: z.string().min(1),
  /** When it was recorded: ISO 8601, UTC. */
  processed_at: z.iso.datetime(),
};

/** The envelope of an event that belongs to a turn. */
export const turnEnvelope = {
  ...envelope,
  /** Id of the turn's `user.message`. */
  turn_id: z.string().min(1),
};

export const textBlock = z.strictObject({ type: z.literal("text"), text: z.string() });
