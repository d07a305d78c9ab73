/**
 * Writes one line of JSON. Fields are ids, counts and codes, never content, a token or a path that a
 * person chose, nor an error's text, which may quote any of them.
 */
export function log(
  event: string,
  fields: Record<string, string | number | boolean | undefined> = {},
): void {
  console.log(JSON.stringify({ event, ...fields }));
}

/** The class of an error, for a log line. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
