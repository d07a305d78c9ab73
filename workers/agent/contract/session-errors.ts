// What clients are told by `session.error`: for people, without content, and with what comes next.

import type { SessionError } from "../../../src/shared/events/session.ts";
import type { FailureKind, ModelFailure } from "../../../src/shared/loop/model.ts";
import type { Problem } from "../../../src/shared/loop/steps.ts";

/** A turn that ended by something that nobody foresaw. */
export function unexpectedError() {
  return sessionError(
    "unknown_error",
    "The turn failed unexpectedly. Send the message again",
    true,
  );
}

/** A turn that reached its number of model calls. */
export function iterationsError(limit: number) {
  return sessionError(
    "tool_use_limit_reached_error",
    `The turn reached its limit of ${limit} model calls. Send another message to let it go on`,
    true,
  );
}

/** An answer that the model refused to give. */
export function refusalError() {
  return sessionError(
    "model_request_failed_error",
    "The model refused to answer this message. Word it differently or go on with something else",
    true,
  );
}

/** A conversation that could not be shortened; it goes on as long as it fits. */
export function compactionError(kind: string) {
  return sessionError(
    "model_request_failed_error",
    `The conversation could not be compacted (${kind}); it goes on while it fits the model's window, and it is tried again`,
    false,
  );
}

/** Background work that waits for a model which serves nobody. */
export function outageError() {
  return sessionError(
    "model_request_failed_error",
    "The model could not be asked what of the last turns is worth keeping. It is tried again by itself; nothing is lost meanwhile",
    false,
  );
}

/** The error of a model call that failed; `outcome` is that of the turn, where it ended it. */
export function failureError(failure: ModelFailure, outcome: string | undefined) {
  const over = outcome === "failed";
  const next = over ? "Send a message to try again" : "It is tried again by itself";
  return sessionError(errorType(failure.kind), `${failure.message}. ${next}`, over);
}

/** The error of something that went wrong without ending the turn by itself. */
export function problemError(problem: Problem) {
  const type =
    problem.kind === "output_limit" || problem.kind === "context_window"
      ? "model_request_failed_error"
      : "unknown_error";
  return sessionError(type, problem.message, !problem.goesOn);
}

function sessionError(type: SessionError["type"], message: string, over: boolean): SessionError {
  return { type, message, retry_status: { type: over ? "exhausted" : "retrying" } };
}

function errorType(kind: FailureKind): SessionError["type"] {
  if (kind === "overloaded") return "model_overloaded_error";
  if (kind === "rate_limited") return "model_rate_limited_error";
  return "model_request_failed_error";
}
