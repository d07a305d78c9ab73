// What everybody who stores text asks before storing it. The scanner itself is a library and lives
// with the platform; this is the port and the words of the refusal.

import { showPath } from "./path.ts";

/** Where a secret was found: what kind and on which line, never a part of the value. */
export interface SecretHit {
  /** The rule's name, such as "github" or "url-password"; it holds nothing of the text. */
  rule: string;
  /** The line of the text, from 1; 0 for the file's name. */
  line: number;
}

/**
 * Every line of a file, and its name, that looks like a secret; empty if none does. Rejects with
 * MemdirError "unavailable", without content, when the scanner fails: the caller then refuses.
 */
export type SecretScan = (file: { path: string; text: string }) => Promise<SecretHit[]>;

/** Hits that one message names; more help nobody. */
const SHOWN_HITS = 8;

/**
 * The refusal of a write, for a client or a model: rules and lines, never the value. It does not
 * repeat a path that is itself the secret.
 */
export function secretRefusal(path: string, hits: SecretHit[]): string {
  const inName = hits.some((hit) => hit.line === 0);
  const inText = hits.some((hit) => hit.line > 0);
  const file = inName ? "the file" : showPath(path);
  const steps = [
    inName ? "choose a name without it" : "",
    inText ? "replace the value by where it is kept (such as a password manager)" : "",
  ].filter((step) => step !== "");
  return `Cannot write ${file}: it holds what looks like a secret (${list(hits)}). Nothing was written; ${steps.join(", ")} and write again`;
}

function list(hits: SecretHit[]): string {
  const shown = hits
    .slice(0, SHOWN_HITS)
    .map((hit) => `${hit.rule} ${hit.line === 0 ? "in the name" : `on line ${hit.line}`}`);
  const rest = hits.length - shown.length;
  return `${shown.join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`;
}
