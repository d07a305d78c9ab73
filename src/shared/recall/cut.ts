// How much of a memory is shown. Bytes are those of the text as the model gets it: an escape for a
// hidden character counts in full, the tags around the text do not count.

import { RECALL_FILE_BYTES, RECALL_LINES } from "../limits/recall.ts";
import { escapeText } from "../safety/fence.ts";
import { byteLength, cutBytes } from "../text/bytes.ts";
import { textStart } from "../text/frontmatter.ts";

export interface MemoryCut {
  /** What is shown; fencing it as `MEMORY_TAG` changes nothing about it. */
  text: string;
  /** Whether something of the file is missing. */
  cut: boolean;
  /** UTF-8 bytes of `text`. */
  bytes: number;
  /** UTF-8 bytes and lines of the whole file. */
  totalBytes: number;
  totalLines: number;
}

/** The tag that a memory is shown in. */
export const MEMORY_TAG = "memory";

const LIMITS = { lines: RECALL_LINES, bytes: RECALL_FILE_BYTES };
/** What would be left of an escape, or joins the last character to one that is gone. */
const LOOSE_END = /(?:[\u200c\u200d]+|\\u\{[0-9a-f]*)$/u;

/**
 * The first lines of a memory, then at most so many bytes of them: up to a line's end where that
 * keeps at least half, else up to a character's. The byte order mark and the last line end are
 * not shown and not missing.
 */
export function cutMemory(
  text: string,
  limits: { lines: number; bytes: number } = LIMITS,
): MemoryCut {
  const whole = text.slice(textStart(text)).replaceAll("\r", "").replace(/\n$/, "");
  const lines = whole === "" ? 0 : whole.split("\n").length;
  const first = lines > limits.lines ? whole.split("\n", limits.lines).join("\n") : whole;
  // No text gets shorter by being shown, so what is further back is not looked at.
  const near = cutBytes(first, limits.bytes + 1);
  const shown = asShown(near);
  const fits = byteLength(shown) <= limits.bytes;
  const kept = fits && near === first ? shown : asShown(cutShown(shown, limits.bytes));
  return {
    text: kept,
    cut: kept !== shown || near !== whole,
    bytes: byteLength(kept),
    totalBytes: byteLength(text),
    totalLines: lines,
  };
}

/** Twice: an escape takes its character from the one that was joined to it. */
function asShown(text: string): string {
  return escapeText(MEMORY_TAG, escapeText(MEMORY_TAG, text));
}

function cutShown(shown: string, most: number): string {
  const cut = cutBytes(shown, most);
  const line = cut.lastIndexOf("\n");
  const whole = line === -1 ? "" : cut.slice(0, line);
  return byteLength(whole) * 2 >= most ? whole : cut.replace(LOOSE_END, "");
}

/**
 * Which memories fit into what is left of a turn and of its session, in UTF-8 bytes, in the order
 * given. One that does not fit is left out, and a smaller one behind it may still come.
 */
export function fitBudget(
  memories: readonly { path: string; bytes: number }[],
  limits: { turn: number; session: number; sessionUsed: number },
): { kept: string[]; dropped: { path: string; reason: "turn_limit" | "session_limit" }[] } {
  const kept: string[] = [];
  const dropped: { path: string; reason: "turn_limit" | "session_limit" }[] = [];
  let used = 0;
  for (const { path, bytes } of memories) {
    const after = used + bytes;
    if (after > limits.turn) dropped.push({ path, reason: "turn_limit" });
    else if (limits.sessionUsed + after > limits.session) {
      dropped.push({ path, reason: "session_limit" });
    } else {
      kept.push(path);
      used = after;
    }
  }
  return { kept, dropped };
}
