// What the user says while a fork works: it counts more than what the fork was shown.

import { LATER_ALL_CHARACTERS, LATER_CHARACTERS } from "../limits/extraction.ts";
import { escapeText } from "../safety/fence.ts";
import { cutCharacters } from "../text/bytes.ts";

const TAG = "user_said";

/** Messages of the user as a fork reads them, oldest first; of too many, the newest. */
export function laterWords(messages: readonly string[]): string {
  const shown: string[] = [];
  let characters = 0;
  for (const message of messages.toReversed()) {
    const cut = cutCharacters(message, LATER_CHARACTERS);
    characters += cut.length;
    if (characters > LATER_ALL_CHARACTERS) break;
    const end = cut === message ? "" : " [The rest is left out.]";
    shown.unshift(`<${TAG}>\n${escapeText(TAG, cut)}${end}\n</${TAG}>`);
  }
  const left = messages.length - shown.length;
  return [...(left > 0 ? [`(${left} older ones are left out.)`] : []), ...shown].join("\n");
}

/** Why a write waits for another decision; undefined `messages` where the fork was just shown them. */
export function unheardRefusal(path: string, messages: readonly string[] | undefined): string {
  const what = messages
    ? `the user said meanwhile:\n${laterWords(messages)}\n`
    : "the user said something meanwhile, which the result before this one shows. ";
  return (
    `Refused: ${path} was not saved: ${what}` +
    "That is the last word. Decide anew: leave out what it corrects, takes back or wants forgotten, and save what still holds. What is new in it is another run's to save"
  );
}
