// How much of a memory is shown. Bytes are those of the text that the model gets: an escape for a
// hidden character counts in full, the tags around the text do not count.

import { RECALL_FILE_BYTES, RECALL_LINES } from "../limits/recall.ts";
import { escapeText } from "../safety/fence.ts";
import { byteLength, cutBytes } from "../text/bytes.ts";
import { textStart } from "../text/frontmatter.ts";

export interface MemoryCut {
  /** The shown text; `fence` with `MEMORY_TAG` does not change it. */
  text: string;
  /** Whether a part of the file is missing. */
  cut: boolean;
  /** UTF-8 bytes of `text`. */
  bytes: number;
  /** UTF-8 bytes of the whole file. */
  totalBytes: number;
}

/** The tag around a shown memory. */
export const MEMORY_TAG = "memory";

const LIMITS = { lines: RECALL_LINES, bytes: RECALL_FILE_BYTES };
/** Half an escape, or a joiner whose second character was cut. */
const LOOSE_END = /(?:[\u200c\u200d]+|\\u\{[0-9a-f]*)$/u;

/**
 * Cuts a memory to its first lines, then to bytes: at the end of a line if that keeps at least half,
 * else at the end of a character. The byte order mark and the last line end are not shown and do not
 * count as missing.
 */
export function cutMemory(
  text: string,
  limits: { lines: number; bytes: number } = LIMITS,
): MemoryCut {
  const whole = text.slice(textStart(text)).replaceAll("\r", "").replace(/\n$/, "");
  const lines = whole === "" ? 0 : whole.split("\n").length;
  const first = lines > limits.lines ? whole.split("\n", limits.lines).join("\n") : whole;
  // Escaping makes no text shorter, so the rest of the file need not be escaped.
  const head = cutBytes(first, limits.bytes + 1);
  const shown = escaped(head);
  const fits = byteLength(shown) <= limits.bytes;
  const kept = fits && head === first ? shown : escaped(cutShown(shown, limits.bytes));
  return {
    text: kept,
    cut: kept !== shown || head !== whole,
    bytes: byteLength(kept),
    totalBytes: byteLength(text),
  };
}

/** Twice: the first escape may separate two joined characters, and the second then escapes the joiner. */
function escaped(text: string): string {
  return escapeText(MEMORY_TAG, escapeText(MEMORY_TAG, text));
}

function cutShown(shown: string, most: number): string {
  const cut = cutBytes(shown, most);
  const line = cut.lastIndexOf("\n");
  const whole = line === -1 ? "" : cut.slice(0, line);
  return byteLength(whole) * 2 >= most ? whole : cut.replace(LOOSE_END, "");
}

/**
 * The memories that fit into the remaining bytes of the turn and of its session, in their order. One
 * that does not fit is dropped; a smaller one after it may still fit.
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
