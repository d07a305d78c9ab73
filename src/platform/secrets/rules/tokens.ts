// Keys with a prefix. The preset has some of these too, but requires an exact length or ending:
// "sk-ant-…" must end in "AA", and a "_" after a GitHub token hides it. These rules require nothing
// after the key. They use the preset's rule names, so that a key counts once.

import type { SecretLintRuleCreator } from "@secretlint/types";
import { matches, patternRule } from "./pattern-rule.ts";

/** No letter or digit before it: "sk-proj-" is not found in "task-proj-". */
const START = "(?<![A-Za-z0-9])";

/** Lengths are bounded, since each match is checked again. Sources: vendors' docs, gitleaks' rules. */
const FORMS: Record<string, string> = {
  anthropic: "sk-ant-[A-Za-z0-9_-]{20,400}",
  openai: "sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,400}|sk-(?:or-v1-)?[A-Za-z0-9]{32,128}",
  "aws-key-id": "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
  github: "gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
  gitlab: "gl(?:pat|dt|rt|ptt|cbt|oas|soat)-[A-Za-z0-9_-]{20,128}",
  "google-api-key": "AIza[A-Za-z0-9_-]{35}",
  "google-oauth": "(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\\.[A-Za-z0-9_-]{40,400})",
  slack: "xox[abeoprs]-[0-9]{1,13}-[A-Za-z0-9-]{10,200}",
  stripe: "[rs]k_(?:live|test)_[A-Za-z0-9]{20,128}|whsec_[A-Za-z0-9+/]{32,64}",
  npm: "npm_[A-Za-z0-9]{36}",
  pypi: "pypi-AgE[A-Za-z0-9_-]{50,400}",
  huggingface: "hf_[A-Za-z]{34}",
  digitalocean: "do[opr]_v1_[a-f0-9]{64}",
  telegram: "[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
  sendgrid: "SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}",
  age: "AGE-SECRET-KEY-1[A-Z0-9]{58}",
};

export const TOKENS: readonly SecretLintRuleCreator[] = Object.entries(FORMS).map(([name, form]) =>
  patternRule(name, (text) => matches(text, new RegExp(`${START}(?:${form})`, "g"))),
);
