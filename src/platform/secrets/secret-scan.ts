// The secret scanner: runs secretlint's recommended rules and our own over a file's name and text.
//
// It does not use @secretlint/core, which does not start in workerd without nodejs_compat (it needs
// `tty` through `debug`, and `PerformanceObserver`), obeys `secretlint-disable` comments in the text,
// keeps a performance mark with the path for every scan, and compares each hit with each other hit.

import { rules as recommended } from "@secretlint/secretlint-rule-preset-recommend";
import type { SecretLintRuleCreator } from "@secretlint/types";
import { MemdirError } from "../../shared/errors.ts";
import type { SecretHit, SecretScan } from "../../shared/safety/secret-scan.ts";
import { ASSIGNMENT } from "./rules/assignment.ts";
import { plainView } from "./rules/plain-view.ts";
import { PRIVATE_KEY } from "./rules/private-key.ts";
import { runRule } from "./rules/run-rule.ts";
import { TOKENS } from "./rules/tokens.ts";
import { URL_PASSWORD } from "./rules/url-password.ts";

/** Hits reported for one file: enough to act on, and a bound for a file full of keys. */
const MOST_HITS = 50;

/**
 * Rules of the preset that do not run. With the first a text could turn the scan off. The second reads
 * a file of that name from disk, and our own private-key rule covers its case.
 */
const LEFT_OUT = new Set([
  "@secretlint/secretlint-rule-filter-comments",
  "@secretlint/secretlint-rule-gcp",
]);

export const RULES: readonly SecretLintRuleCreator[] = [
  ...recommended.filter((rule) => !LEFT_OUT.has(rule.meta.id)),
  ...TOKENS,
  PRIVATE_KEY,
  URL_PASSWORD,
  ASSIGNMENT,
];

/**
 * A scanner in linear time. It finds secrets by their form at any place, also escaped as in JSON or
 * URLs. It does not find one that is wrapped over lines, encoded again, or without a known form.
 */
export function createSecretScan(rules: readonly SecretLintRuleCreator[] = RULES): SecretScan {
  return async ({ path, text }) => {
    try {
      const inName = await scan(rules, path, () => 0);
      return [...inName, ...(await scan(rules, text, lineCounter(text)))];
    } catch {
      // Without the cause, whose text may quote what was scanned.
      throw new MemdirError(
        "unavailable",
        "Cannot check the file for secrets: the scanner failed. Nothing was written; write again, and if it fails again, write less at once",
      );
    }
  };
}

async function scan(
  rules: readonly SecretLintRuleCreator[],
  text: string,
  lineOf: (index: number) => number,
): Promise<SecretHit[]> {
  const hits = new Map<string, SecretHit>();
  await eachSecret(rules, text, (name, start) => {
    if (hits.size >= MOST_HITS) return;
    const line = lineOf(start);
    hits.set(`${name}:${line}`, { rule: name, line });
  });
  return [...hits.values()].sort((a, b) => a.line - b.line || (a.rule < b.rule ? -1 : 1));
}

/** Every hit of every rule, as `runRule` gives it; a hit may come more than once. */
export async function eachSecret(
  rules: readonly SecretLintRuleCreator[],
  text: string,
  found: (rule: string, start: number, end: number) => void,
): Promise<void> {
  for (const view of new Set([text, plainView(text)])) {
    for (const rule of rules) await runRule(rule, view, found);
  }
}

/** Lines from 1 by binary search. The views of a text keep its length, so they share one counter. */
function lineCounter(text: string): (index: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (index) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return Math.max(1, low);
  };
}
