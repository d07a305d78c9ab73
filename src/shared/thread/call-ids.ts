import type { Message } from "./messages.ts";
import { toolCallsOf } from "./messages.ts";

/** The call ids that the API accepts. Source: the message of its refusal. */
const VALID_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Returns a function that gives each call of an answer a valid and unique id: the model's own, or a new
 * one if that is malformed or already used in this history or answer. The same history and the same ids
 * give the same result.
 */
export function createCallIds(history: readonly Message[]): (id: unknown) => string {
  const used = new Set(history.flatMap((message) => toolCallsOf(message).map(({ id }) => id)));
  return (id) => {
    const valid = typeof id === "string" && VALID_ID.test(id) && !used.has(id) ? id : undefined;
    const unique = valid ?? newId(used);
    used.add(unique);
    return unique;
  };
}

function newId(used: ReadonlySet<string>): string {
  let n = used.size + 1;
  while (used.has(`toolu_renamed_${n}`)) n += 1;
  return `toolu_renamed_${n}`;
}
