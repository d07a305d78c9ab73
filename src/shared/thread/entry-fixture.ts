import type { Entry, Origin } from "./entry.ts";
import type { Message } from "./messages.ts";

/** A message as an entry that nothing special is known of. */
export function entryOf(message: Message, n = 1, turn = 1, origin = plainOrigin(message)): Entry {
  return { n, turn, origin, message };
}

/** Messages as a transcript, two a turn if not said otherwise. */
export function entriesOf(
  messages: readonly Message[],
  turnOf: (at: number) => number = (at) => Math.floor(at / 2) + 1,
): Entry[] {
  return messages.map((message, at) => entryOf(message, at + 1, turnOf(at)));
}

function plainOrigin(message: Message): Origin {
  if (message.role === "assistant") return { type: "model" };
  const results = message.content.some(({ type }) => type === "tool_result");
  return results ? { type: "results", stored: [] } : { type: "user" };
}
