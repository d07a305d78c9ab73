import type { SecretLintRuleCreator } from "@secretlint/types";
import { MemdirError } from "../../shared/errors.ts";
import { MASK, type SecretMask } from "../../shared/safety/secret-scan.ts";
import { eachSecret, RULES } from "./secret-scan.ts";

/** A mask by the rules of the scanner. A key that is not in one piece takes the rest of the text along. */
export function createSecretMask(rules: readonly SecretLintRuleCreator[] = RULES): SecretMask {
  return async (text) => {
    const places: { start: number; end: number }[] = [];
    try {
      await eachSecret(rules, text, (_rule, start, end) => places.push({ start, end }));
    } catch {
      // Without the cause, whose text may quote what was scanned.
      throw new MemdirError(
        "unavailable",
        "Cannot mask secrets: the scanner failed. The text was sent nowhere",
      );
    }
    places.sort((a, b) => a.start - b.start);
    let masked = "";
    let from = 0;
    for (const { start, end } of places) {
      if (start >= from) masked += `${text.slice(from, start)}${MASK}`;
      from = Math.max(from, end);
    }
    return masked + text.slice(from);
  };
}
