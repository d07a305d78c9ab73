import { MemdirError } from "../../shared/errors.ts";
import { ROW_BYTES } from "../../shared/limits/turn.ts";
import { byteLength } from "../../shared/text/bytes.ts";

/** Throws `too_large` for a text that does not fit into a row, before anything is written. */
export function refuseLarge(text: string, what: string): void {
  // Cheap first: a UTF-16 unit is at most three bytes of UTF-8.
  if (text.length * 3 <= ROW_BYTES) return;
  const bytes = byteLength(text);
  if (bytes <= ROW_BYTES) return;
  throw new MemdirError(
    "too_large",
    `${what} is ${bytes} bytes, more than the ${ROW_BYTES} that one record may have`,
  );
}
