// Pending actions: tool calls that need an answer from outside. A person allows or denies them, or the
// client runs them.

import type { ToolResult } from "./tool.ts";
import { errorResult } from "./tool.ts";

/** The decision on a call before it runs. `client`: the client runs it itself. */
export type Permission = "allow" | "ask" | "deny" | "client";

/** The answer to a pending action. Only the first one counts. */
export type CallAnswer =
  | { type: "allow" }
  | { type: "deny"; message?: string | undefined }
  | { type: "result"; content: string; isError: boolean }
  /** Nobody answered within so many milliseconds. */
  | { type: "timeout"; ms: number };

/** Looks up the answer by the call's id; undefined while the action is pending. */
export type Answers = (callId: string) => CallAnswer | undefined;

/** The tool result of an answer after which nothing runs here. */
export function answerResult(
  name: string,
  permission: Permission,
  answer: Exclude<CallAnswer, { type: "allow" }>,
): ToolResult {
  switch (answer.type) {
    case "deny":
      return errorResult(
        `The user denied this call of ${name}; nothing was changed by it.${reason(answer.message)} Do not try the same again, also not by other means, unless the user asks for it`,
      );
    case "result":
      return {
        content: answer.content.trim() === "" ? NO_OUTPUT : answer.content,
        isError: answer.isError,
        notes: [],
      };
    case "timeout":
      return errorResult(
        permission === "ask"
          ? `Nobody answered within ${formatDuration(answer.ms)} whether ${name} may run, so it was not run; nothing was changed by it. Go on without it, and say what is left to do`
          : `The client gave no result of ${name} within ${formatDuration(answer.ms)}; what it did is not known. Go on without it, or look before you call it again`,
      );
  }
}

/** In place of an empty result, which the API refuses. */
const NO_OUTPUT = "(no output)";

function reason(message: string | undefined): string {
  return message === undefined || message.trim() === "" ? "" : ` The user says: "${message}".`;
}

const UNITS = [
  ["day", 24 * 60 * 60 * 1000],
  ["hour", 60 * 60 * 1000],
  ["minute", 60 * 1000],
  ["second", 1000],
] as const;

/** Milliseconds in the largest unit without a remainder: "24 hours" is "1 day". */
export function formatDuration(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size && ms % size === 0);
  const [name, size] = unit ?? (["millisecond", 1] as const);
  const count = ms / size;
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
