import { MemdirError } from "../errors.ts";
import type { ToolNote, ToolResult } from "../loop/tool.ts";
import { cutCharacters } from "../text/bytes.ts";

/** A message for the model, in characters: a reason, not a document. */
const MESSAGE_CHARACTERS = 4000;

/** Half characters become U+FFFD in every result: the API refuses them, and JSON breaks on them. */
export function success(content: string, notes: ToolNote[] = []): ToolResult {
  return { content: content.toWellFormed(), isError: false, notes };
}

/** An error that the model can act on: what was tried, the value, the limit, the next step. */
export function failure(message: string): ToolResult {
  return {
    content: cutCharacters(message.toWellFormed(), MESSAGE_CHARACTERS),
    isError: true,
    notes: [],
  };
}

/**
 * What a throw becomes. Only a message that was written for clients is passed on; the text of any
 * other error may hold keys of the storage. `attempt` names what was tried, with the logical path.
 */
export function failureOf(error: unknown, attempt: string): ToolResult {
  if (isRefusal(error)) return failure(`${attempt} failed. ${error.message}`);
  return failure(`${attempt} failed: the file storage did not answer. Try again later`);
}

/** Codes whose messages are written for clients, a store that is gone among them. */
const REFUSALS: ReadonlySet<string> = new Set(["invalid_request", "forbidden", "not_found"]);

/** A throw that says that nothing was done, in words for clients. */
export function isRefusal(error: unknown): error is MemdirError {
  if (!(error instanceof MemdirError)) return false;
  return REFUSALS.has(error.code);
}

/** The result with what its writer should do next, if there is something. */
export function withWarning(result: ToolResult, warning: string | undefined): ToolResult {
  return warning === undefined ? result : { ...result, content: `${result.content}\n${warning}` };
}
