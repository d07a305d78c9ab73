// The ports of the secret scanner, which is asked before any text is stored, or is sent where it is not
// needed whole, and the message of a refusal. The platform has the scanner itself.

import { showPath } from "./path.ts";

/** A place that looks like a secret: its kind and line, never a part of the value. */
export interface SecretHit {
  /** The rule's name, such as "github" or "url-password"; no part of the text. */
  rule: string;
  /** The line of the text, from 1; 0 for the file's name. */
  line: number;
}

/**
 * The hits in the name and the text of a file. Rejects with MemdirError "unavailable", without content,
 * if the scanner fails; the caller then refuses the write.
 */
export type SecretScan = (file: { path: string; text: string }) => Promise<SecretHit[]>;

/**
 * The same text with `MASK` in place of what looks like a secret, for a reader that needs none of it.
 * Rejects with MemdirError "unavailable", without content, if the scanner fails.
 */
export type SecretMask = (text: string) => Promise<string>;
export const MASK = "[secret]";

/** Hits that one message names. */
const SHOWN_HITS = 8;

/**
 * The message of a refused write, for a client or a model: rules and lines, never the value, nor a path
 * that is itself the secret.
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
