// What was said just before the question, in short: "and the other one?" says nothing by itself.

import { RECALL_RECENT_CHARACTERS, RECALL_RECENT_TURNS } from "../limits/recall.ts";
import { escapeText } from "../safety/fence.ts";
import { plainLine } from "../safety/plain-line.ts";
import { cutCharacters } from "../text/bytes.ts";
import type { Entry } from "../thread/entry.ts";

export interface Spoken {
  by: "user" | "assistant";
  text: string;
}

/**
 * What user and assistant said in the last turns of these entries, oldest first: all of the user's words,
 * and the last text of the assistant. Results, reminders, memories and summaries are nobody's words.
 */
export function spokenIn(entries: readonly Entry[]): Spoken[] {
  const turns = new Map<number, { user: string[]; assistant: string }>();
  for (const { turn, origin, message } of entries) {
    if (origin.type !== "user" && origin.type !== "model") continue;
    const texts = message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const text = texts.join("\n").trim();
    if (text === "") continue;
    const said = turns.get(turn) ?? { user: [], assistant: "" };
    if (origin.type === "user") said.user.push(text);
    else said.assistant = text;
    turns.set(turn, said);
  }
  return [...turns.values()]
    .slice(-RECALL_RECENT_TURNS)
    .flatMap(({ user, assistant }): Spoken[] => [
      ...(user.length > 0 ? [{ by: "user" as const, text: user.join("\n") }] : []),
      ...(assistant === "" ? [] : [{ by: "assistant" as const, text: assistant }]),
    ]);
}

/** The beginning and the end of a text, at most so many characters of each. */
export function shorten(text: string, characters: number): string {
  const head = cutCharacters(text, characters);
  const rest = text.slice(head.length);
  if (rest.length <= characters) return text;
  return `${head} … ${rest.slice(-characters).replace(/^[\udc00-\udfff]/, "")}`;
}

/** A part of a request: each text on a line of its own, which it cannot leave. */
export function recentPart(recent: readonly Spoken[]): string {
  const lines = recent.map(({ by, text }) => {
    const short = shorten(text.trim(), RECALL_RECENT_CHARACTERS);
    return `${by}: ${escapeText("recent", plainLine(short, RECALL_RECENT_CHARACTERS * 3))}`;
  });
  return `<recent>\n${lines.join("\n")}\n</recent>`;
}
