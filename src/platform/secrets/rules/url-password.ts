import { type Found, patternRule } from "./pattern-rule.ts";
import { isPlaceholder } from "./placeholder.ts";

/** "://user:password@host". No part holds "/", so that no character is read for two starts. */
const CREDENTIALS = /:\/\/([^\s:@/"'`<>|]{0,128}):([^\s@/"'`<>|]{3,256})@[^\s/:"'`<>|?#]{1,255}/g;

const USUAL =
  /^(?:my|your|the|db|some|user)?[-_]?(?:pass|passw(?:or)?d|pwd|secret|token|key|postgres|mysql|redis|root|admin|guest|test|user(?:name)?|x+)$/i;

/** A password within a URL, for whatever scheme. Not a usual word, a template or a mask. */
export const URL_PASSWORD = patternRule("url-password", find);

function* find(text: string): Generator<Found> {
  for (const match of text.matchAll(CREDENTIALS)) {
    const [value, user = "", password = ""] = match;
    if (USUAL.test(password) || user === password) continue;
    if (isPlaceholder(password)) continue;
    yield { index: match.index, value };
  }
}
