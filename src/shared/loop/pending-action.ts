// Calls that somebody outside has to answer: a person who allows them, or the client that runs them.

import type { ToolResult } from "./tool.ts";

/** What is decided of a call before it runs; `client` is one that the client runs itself. */
export type Permission = "allow" | "ask" | "deny" | "client";

/** What came of a call that waited; the first answer is the only one. */
export type CallAnswer =
  | { type: "allow" }
  | { type: "deny"; message?: string | undefined }
  | { type: "result"; content: string; isError: boolean }
  /** Nobody answered within so many milliseconds. */
  | { type: "timeout"; ms: number };

/** Looks up what came of a call, by the call's id; undefined while somebody still has to answer. */
export type Answers = (callId: string) => CallAnswer | undefined;

/** What the model is told of an answer that lets nothing run here. */
export function answerResult(
  name: string,
  permission: Permission,
  answer: Exclude<CallAnswer, { type: "allow" }>,
): ToolResult {
  switch (answer.type) {
    case "deny":
      return failed(
        `The user denied this call of ${name}; nothing was changed by it.${reason(answer.message)} Do not try the same again, also not by other means, unless the user asks for it`,
      );
    case "result":
      return {
        content: answer.content.trim() === "" ? NO_OUTPUT : answer.content,
        isError: answer.isError,
        notes: [],
      };
    case "timeout":
      return failed(
        permission === "ask"
          ? `Nobody answered within ${spanOf(answer.ms)} whether ${name} may run, so it was not run; nothing was changed by it. Go on without it, and say what is left to do`
          : `The client gave no result of ${name} within ${spanOf(answer.ms)}; what it did is not known. Go on without it, or look before you call it again`,
      );
  }
}

/** What stands where a client's result holds no text: the API refuses an empty one. */
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

/** Milliseconds in the largest unit that says them without a rest: "24 hours" is "1 day". */
export function spanOf(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size && ms % size === 0);
  const [name, size] = unit ?? (["millisecond", 1] as const);
  const count = ms / size;
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

function failed(content: string): ToolResult {
  return { content, isError: true, notes: [] };
}
