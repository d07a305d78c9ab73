// MEMORY.md: the index of a memory directory, read once a session into the prompt.

import { INDEX_BYTES, INDEX_LINES } from "../limits/memory.ts";
import { byteLength, cutBytes } from "../text/bytes.ts";

/** The name of the index within its directory. */
export const INDEX_FILE = "MEMORY.md";

export interface IndexCut {
  /** What goes into the prompt, notice included; at most `bytes` long. */
  text: string;
  /** Which limit cut it, if one did. */
  cutBy: "lines" | "bytes" | undefined;
  /** Lines and UTF-8 bytes of the whole index, blank space at its end left out. */
  lines: number;
  bytes: number;
  /** Lines that are not shown, or not in full. */
  hidden: number;
}

/**
 * The index as it goes into the prompt: at most so many lines, then at most so many UTF-8 bytes at a
 * line's end. A notice says in real numbers what is missing, within the same limit of bytes. The
 * cut of a first line that is too long lies between two characters: it is never all lost.
 */
export function cutIndex(
  raw: string,
  limits: { lines: number; bytes: number } = { lines: INDEX_LINES, bytes: INDEX_BYTES },
): IndexCut {
  const text = raw.toWellFormed().trimEnd();
  const lines = text.split("\n");
  const total = byteLength(text);
  const kept = lines.slice(0, limits.lines);
  const whole = { lines: lines.length, bytes: total };
  if (kept.length === lines.length && total <= limits.bytes) {
    return { text, cutBy: undefined, ...whole, hidden: 0 };
  }
  // The notice counts too, and may cost a line more; that does not change which limit is to blame.
  const cutBy = byteLength(kept.join("\n")) <= limits.bytes ? "lines" : "bytes";
  const say = (hidden: number) => notice(cutBy, limits[cutBy], whole, hidden);
  const room = limits.bytes - byteLength(say(lines.length));
  let used = 0;
  let count = 0;
  for (const line of kept) {
    const next = used + byteLength(line) + (count > 0 ? 1 : 0);
    if (next > room) break;
    used = next;
    count += 1;
  }
  const shown = count > 0 ? kept.slice(0, count).join("\n") : cutBytes(kept[0] ?? "", room);
  const hidden = lines.length - count;
  return { text: shown + say(hidden), cutBy, ...whole, hidden };
}

function notice(
  by: "lines" | "bytes",
  limit: number,
  whole: { lines: number; bytes: number },
  hidden: number,
): string {
  return (
    `\n\n> Notice: this index has ${whole.lines} lines and ${whole.bytes} bytes; the limit of ` +
    `${limit} ${by} cut it, and ${hidden} lines are not shown or not in full. Their files are still ` +
    "there. Shorten the index: one line of under 150 characters a memory, and move details into the files."
  );
}
