// The errors of `session.error`: for people, without content, and with what comes next.

import type { SessionError } from "../../../src/shared/events/session.ts";
import type { FailureKind, ModelFailure } from "../../../src/shared/loop/model.ts";
import type { Problem } from "../../../src/shared/loop/steps.ts";

/** Ends a turn by something that nobody foresaw. */
export function unexpectedError(): SessionError {
  return sessionError(
    "unknown_error",
    "The turn failed unexpectedly. Send the message again",
    true,
  );
}

/** Ends a turn at whose step the process died again and again: another try would die too. */
export function deathsError(times: number): SessionError {
  return sessionError(
    "unknown_error",
    `The turn was given up: the service broke down ${times} times at the same step of it. The session works on; ask for less at once, or in another way`,
    true,
  );
}

/** Ends a turn that reached its number of model calls. */
export function iterationsError(limit: number): SessionError {
  return sessionError(
    "tool_use_limit_reached_error",
    `The turn reached its limit of ${limit} model calls. Send another message to let it go on`,
    true,
  );
}

/** Ends a turn whose answer the model refused. */
export function refusalError(): SessionError {
  return sessionError(
    "model_request_failed_error",
    "The model refused to answer this message. Word it differently or go on with something else",
    true,
  );
}

/** A compaction failed; the conversation goes on as long as it fits. */
export function compactionError(kind: string): SessionError {
  return sessionError(
    "model_request_failed_error",
    `The conversation could not be compacted (${kind}); it goes on while it fits the model's window, and it is tried again`,
    false,
  );
}

/** Background work waits for a model that serves nobody. */
export function outageError(): SessionError {
  return sessionError(
    "model_request_failed_error",
    "The model could not be asked what of the last turns is worth keeping. It is tried again by itself; nothing is lost meanwhile",
    false,
  );
}

/** A model call failed; `outcome` is the turn's, where that ended it. */
export function failureError(failure: ModelFailure, outcome: string | undefined): SessionError {
  const over = outcome === "failed";
  const next = over ? "Send a message to try again" : "It is tried again by itself";
  return sessionError(errorType(failure.kind), `${failure.message}. ${next}`, over);
}

/** Something went wrong that does not end the turn by itself. */
export function problemError(problem: Problem): SessionError {
  const type =
    problem.kind === "output_limit" || problem.kind === "context_window"
      ? "model_request_failed_error"
      : "unknown_error";
  return sessionError(type, problem.message, !problem.continues);
}

function sessionError(type: SessionError["type"], message: string, over: boolean): SessionError {
  return { type, message, retry_status: { type: over ? "exhausted" : "retrying" } };
}

function errorType(kind: FailureKind): SessionError["type"] {
  if (kind === "overloaded") return "model_overloaded_error";
  if (kind === "rate_limited") return "model_rate_limited_error";
  return "model_request_failed_error";
}
