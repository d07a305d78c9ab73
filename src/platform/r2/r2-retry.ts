import { MemdirError } from "../../shared/errors.ts";
import { R2_ATTEMPTS } from "../../shared/limits/files.ts";
import { RETRY_FIRST_MS } from "../../shared/limits/turn.ts";

export type Sleep = (milliseconds: number) => Promise<void>;

// R2 has no error class: its numbers stand in the text. 10058 is one write a second a key.
const TRANSIENT =
  /\((?:10001|10043|10058)\)|\b(?:429|500|502|503)\b|request rate|rate limit|too many requests|internal error|try again|network connection lost/i;

/**
 * Runs one R2 call, again with back-off and jitter while R2 refuses for rate or fails in passing,
 * at most `R2_ATTEMPTS` times. `call` gets the number of the attempt, from 1. What remains becomes a
 * `MemdirError` "unavailable" that holds the logical path and nothing of R2.
 */
export async function withRetries<T>(
  action: string,
  path: string,
  sleep: Sleep,
  call: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call(attempt);
    } catch (error) {
      if (error instanceof MemdirError) throw error;
      if (attempt >= R2_ATTEMPTS || !TRANSIENT.test(String(error))) throw unavailable(action, path);
      const pause = RETRY_FIRST_MS * 2 ** (attempt - 1);
      await sleep(pause + Math.random() * pause);
    }
  }
}

export function unavailable(action: string, path: string): MemdirError {
  return new MemdirError(
    "unavailable",
    `Cannot ${action} "${path}": the file storage failed; try again later`,
    path,
  );
}
