import type { Message } from "./messages.ts";
import { toolCallsOf } from "./messages.ts";

/** What the API takes as the id of a call. Source: the API's own refusal. */
const USABLE = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Gives each call of an answer an id that the API takes and that no other call has: the model's own,
 * or a new one where that is of the wrong form, or taken in this history or by this answer. The same
 * history and the same ids give the same names.
 */
export function createCallIds(history: readonly Message[]): (id: unknown) => string {
  const taken = new Set(history.flatMap((message) => toolCallsOf(message).map(({ id }) => id)));
  return (id) => {
    const own = typeof id === "string" && USABLE.test(id) && !taken.has(id) ? id : undefined;
    const given = own ?? fresh(taken);
    taken.add(given);
    return given;
  };
}

function fresh(taken: ReadonlySet<string>): string {
  let n = taken.size + 1;
  while (taken.has(`toolu_renamed_${n}`)) n += 1;
  return `toolu_renamed_${n}`;
}
