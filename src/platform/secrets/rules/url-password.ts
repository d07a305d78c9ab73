import { type Found, patternRule } from "./pattern-rule.ts";
import { isPlaceholder } from "./placeholder.ts";

/** "://user:password@host". No part may contain "/", so that no character is read for two matches. */
const CREDENTIALS = /:\/\/([^\s:@/"'`<>|]{0,128}):([^\s@/"'`<>|]{3,256})@[^\s/:"'`<>|?#]{1,255}/g;

const COMMON =
  /^(?:my|your|the|db|some|user)?[-_]?(?:pass|passw(?:or)?d|pwd|secret|token|key|postgres|mysql|redis|root|admin|guest|test|user(?:name)?|x+)$/i;

/** A password within a URL of any scheme. A common word, a template or a mask is none. */
export const URL_PASSWORD = patternRule("url-password", find);

function* find(text: string): Generator<Found> {
  for (const match of text.matchAll(CREDENTIALS)) {
    const [value, user = "", password = ""] = match;
    if (COMMON.test(password) || user === password) continue;
    if (isPlaceholder(password)) continue;
    yield { index: match.index, value };
  }
}
