import { MemdirError } from "../errors.ts";
import type { ToolNote, ToolResult } from "../loop/tool.ts";
import { cutCharacters } from "../text/bytes.ts";

/** A message for the model, in characters. */
const MESSAGE_CHARACTERS = 4000;

/** Lone surrogates become U+FFFD: the API refuses them. */
export function success(content: string, notes: ToolNote[] = []): ToolResult {
  return { content: content.toWellFormed(), isError: false, notes };
}

/** An error that the model can act on: it says what was tried, the value, the limit, the next step. */
export function failure(message: string): ToolResult {
  return {
    content: cutCharacters(message.toWellFormed(), MESSAGE_CHARACTERS),
    isError: true,
    notes: [],
  };
}

/**
 * The result of a throw. Only a message that is written for clients is passed on; the text of any other
 * error may contain keys of the storage. `attempt` says what was tried, with the logical path.
 */
export function failureOf(error: unknown, attempt: string): ToolResult {
  if (isRefusal(error)) return failure(`${attempt} failed. ${error.message}`);
  return failure(`${attempt} failed: the file storage did not answer. Try again later`);
}

/** Codes whose messages are written for clients; `not_found` is a store that was deleted. */
const REFUSALS: ReadonlySet<string> = new Set(["invalid_request", "forbidden", "not_found"]);

/** Whether an error says, in words for clients, that nothing was done. */
export function isRefusal(error: unknown): error is MemdirError {
  if (!(error instanceof MemdirError)) return false;
  return REFUSALS.has(error.code);
}

/** Adds to a result what the model should do next, if there is something. */
export function withWarning(result: ToolResult, warning: string | undefined): ToolResult {
  return warning === undefined ? result : { ...result, content: `${result.content}\n${warning}` };
}
