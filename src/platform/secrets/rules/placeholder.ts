// Placeholders, which look like secrets. Each test is for a form that a random value practically never
// has, so that no real key counts as an example.

const TELLING =
  /example|placeholder|redacted|change-?me|replace[-_]|dummy[-_]|your[-_]|1234567890|0123456789|abcdefgh/i;

/** A template, an elision or a mask: "${TOKEN}", "{{pw}}", "<key>", "$TOKEN", "%PW%", "***", "...". */
const TEMPLATE = /^[$%<{[(*]|\$\{|\{\{|\*{3}|\.{3}|…/;

/** A password for a service on the same machine is a default that everybody has. */
const LOCAL = /@(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?![\w.-])/i;

/** A word or a short number: "prod", "Api", "ENV", "getAuthToken", "s3", "v2", "20251101". */
const WORD = /^(?:[a-z]+|[A-Z]+|[a-z]*(?:[A-Z][a-z]{2,})+|)\d{0,8}$/;

/** Whether a value only shows a form: "AKIA" and X's, zeros, "<your-key>", an example of the docs. */
export function isPlaceholder(value: string): boolean {
  return [TELLING, TEMPLATE, LOCAL].some((form) => form.test(value)) || isOneCharacter(value);
}

/** Whether a value is made of words, like an identifier or a file's path: "prod/db-password-2024". */
export function isWords(value: string): boolean {
  return value.split(/[-_./]/).every((part) => WORD.test(part));
}

/** Whether one character, in either case, makes up more than half of a value. */
function isOneCharacter(value: string): boolean {
  const counts = new Map<string, number>();
  for (const character of value.toLowerCase()) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values()) * 2 > value.length;
}
