/**
 * One line of JSON. Fields are ids, counts and codes: never content, a token, a path that a person
 * chose, or an error's own text, which may quote any of them.
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
