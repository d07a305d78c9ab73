// Secrets for tests, put together at run time so that no scanner flags this repository, and the
// suite that must hold on Node and in workerd.

import { describe, expect, it } from "vitest";
import type { SecretScan } from "../../shared/safety/secret-scan.ts";

const BASE64URL = "aB3_-dE9";
const SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b";
const BASE62 = "q7Zx2LmP9vRt4KsWn8Yb";
const BODY = `MIIEvQIBADANBgkqhkiG9w0BAQEFAASC${BASE62}${BASE62}k3`;

/** A string from pieces; the pieces alone are nothing to a scanner. */
export function key(...pieces: string[]): string {
  return pieces.join("");
}

function of(length: number, alphabet = BASE62): string {
  return alphabet.repeat(Math.ceil(length / alphabet.length)).slice(0, length);
}

/** One real-looking key for each form, by what it is. */
export const KEYS: Record<string, string> = {
  "an Anthropic key": key("sk-", "ant-", "api03-", of(93, BASE64URL), "AA"),
  "an Anthropic key that ends in a hyphen": key("sk-", "ant-", "api03-", of(93, BASE64URL), "-AA-"),
  "an Anthropic OAuth token": key("sk-", "ant-", "oat01-", of(60, BASE64URL)),
  "an OpenAI project key": key("sk-", "proj-", of(48, BASE64URL)),
  "an OpenAI service key": key("sk-", "svcacct-", of(100, BASE64URL)),
  "an OpenAI key of the old form": key("sk-", of(48)),
  "an AWS key id": key("AK", "IA", "Q7ZX2LMP9VRT4KSW"),
  "a temporary AWS key id": key("AS", "IA", "Q7ZX2LMP9VRT4KSW"),
  "a GitHub token": key("gh", "p_", of(36, "Z9")),
  "a fine-grained GitHub token": key("github", "_pat_", of(22), "_", of(59)),
  "a GitLab token": key("gl", "pat-", of(20, BASE64URL)),
  "a Google API key": key("AI", "za", of(35, BASE64URL)),
  "a Slack token": key("xo", "xb-", "628194730152-", of(24)),
  "a Stripe key": key("sk", "_live_", of(24)),
  "an npm token": key("np", "m_", of(36)),
  "a Hugging Face token": key("h", "f_", of(34, "aBxYqRtLmZ")),
  "a Linear key, which the preset knows": key("lin", "_api_", of(40)),
  "a Databricks token, which the preset knows": key("da", "pi", of(32, "9f3e81d0")),
  "a URL's password": key("redis:", "//app:", "Kx9mQ2vL7p", "@cache.internal:6379"),
};

/** Where a key may stand. The line is the one on which it then stands. */
export const PLACES: Record<string, { text: (key: string) => string; line: number }> = {
  alone: { text: (key) => key, line: 1 },
  "in double quotes": { text: (key) => `a\nuse "${key}" here`, line: 2 },
  "in single quotes": { text: (key) => `use '${key}' here`, line: 1 },
  "in backticks": { text: (key) => `use \`${key}\` here`, line: 1 },
  "at the end of a line": { text: (key) => `the key: ${key}\nnext`, line: 1 },
  "at the end of a CRLF line": { text: (key) => `a\r\nthe key: ${key}\r\nnext`, line: 2 },
  "before a comma": { text: (key) => `(${key}, and more`, line: 1 },
  "before a bracket": { text: (key) => `call(${key})`, line: 1 },
  "before a full stop": { text: (key) => `It is ${key}.`, line: 1 },
  "in a URL's query": { text: (key) => `https://api.host.io/v1?k=${key}&x=1`, line: 1 },
  "in a URL's query, encoded": {
    text: (key) => `https://api.host.io/v1?q=k%3D${key}%26x`,
    line: 1,
  },
  "in a fence": { text: (key) => `text\n\n\`\`\`sh\nexport K=${key}\n\`\`\`\n`, line: 4 },
  "in a table's cell": { text: (key) => `| a | b |\n|---|---|\n|${key}|2|\n`, line: 3 },
  "in a YAML block": { text: (key) => `value: |\n  ${key}\n`, line: 2 },
  "in a folded YAML block": { text: (key) => `value: >-\n    ${key}\n`, line: 2 },
  "in JSON within JSON": { text: (key) => `{"a":"{\\"k\\":\\"${key}\\"}"}`, line: 1 },
  "behind an escaped line break": { text: (key) => `{"a":"b\\n${key}\\nc"}`, line: 1 },
  "behind a Unicode escape": { text: (key) => `{"a":"k\\u003d${key}\\u0026"}`, line: 1 },
  "in text without spaces": { text: (key) => `密钥是${key}。`, line: 1 },
  "in the description": {
    text: (key) => `---\nname: n\ndescription: the key is ${key}\ntype: user\n---\nbody`,
    line: 3,
  },
  "in an HTML comment": { text: (key) => `<!-- ${key} -->`, line: 1 },
  "in the last bytes of 240 KB": {
    text: (key) => `${"words of a note\n".repeat(15_000)}${key}`,
    line: 15_001,
  },
};

/** A private key as people paste it: the marker's label and what ends its lines. */
export function pem(label: string, end: string, indent = ""): string {
  const lines = [
    key("-----", "BEGIN ", label, "-----"),
    BODY,
    BODY,
    key("-----", "END ", label, "-----"),
  ];
  return lines.map((line) => `${indent}${line}`).join(end);
}

/** What looks like a secret and is none. */
const HARMLESS: Record<string, string> = {
  "a masked GitLab token": key("gl", "pat-", "X".repeat(11), "-", "X".repeat(8)),
  "a masked AWS key id": key("AK", "IA", "X".repeat(16)),
  "the AWS key id of the docs": key("AK", "IA", "IOSFODNN7", "EXAMPLE"),
  "a masked GitHub token": key("gh", "p_", "x".repeat(36)),
  "a counted GitHub token": key("gh", "p_", "1234567890abcdefghijklmnopqrstuvwxyz"),
  "a zeroed Google key": key("AI", "za", "0".repeat(35)),
  "an Anthropic key of the docs": key("sk-", "ant-", "api03-", "your-api-key-goes-here"),
  "a kebab-case name that ends like a prefix": "the task-proj-alpha-beta-gamma-delta-2024 branch",
  "an id that ends like a prefix": "the disk-proj-7f3aK2x9q4b8c1d6e5f0a7 volume",
  "a git SHA": `fixed in ${SHA}, see commit: ${SHA}`,
  "a UUID": "id 3f2504e0-4f89-41d3-9a0c-0305e82c3301, token: 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
  "a word and zeros": `discord=${"0".repeat(32)}`,
  "a token of zeros": `token=${"0".repeat(32)}`,
  "a base64 image": `![](data:image/png;base64,iVBORw0KGgo${"EZAKx7/+Qb9AKIAz3".repeat(400)}==)`,
  "prose about authentication": 'requires authentication.", "approve_with_id": true',
  "a reference to a password manager": "token: see 1Password",
  "a reference by address": "password: op://vault/deploy/password-2024",
  "a variable": "api_key: process.env.OPENAI_API_KEY_2, secret=$" + "{DEPLOY_SECRET_2024}",
  "a name of a secret": "secret: prod/db-password-2024/master2",
  "a model's name": "token | claude-opus-4-5-20251101",
  "a call": "const token = getAuthTokenFromStore2(); secret = crypto.randomBytes(32)",
  "a short id": "token: build4f7a9c2e",
  "a number": "max_tokens: 4096\ntoken: 123456789012",
  "a URL's password in a template": "postgres://app:$" + "{DB_PASSWORD}@db:5432/x",
  "a URL's masked password": "amqp://app:****@queue.internal/",
  "a URL's password in a variable": "redis://:$REDIS_PASSWORD@cache/0 amqp://app:%QUEUE_PW%@q",
  "a URL's password of one letter": "ssh://app:aaaaaaaa@host",
  "a URL's password that is the user's name": "amqp://wordpress:wordpress@queue/",
  "a URL's password on localhost": key("postgres:", "//postgres:", "devpw77@localhost:5432/app"),
  "a URL's password of the docs": key("https:", "//user:", "password@host.io/"),
  "a URL with a port and an at sign": "https://host.io:8443/@scope/package@1.2.3",
  "a private key's markers": `${key("-----", "BEGIN ", "PRIVATE KEY-----")}\n...\n${key("-----", "END ", "PRIVATE KEY-----")}`,
  "a private key's markers and a hash behind them": `${key("-----", "BEGIN ", "PRIVATE KEY-----")}\nMIIE... (4 lines of base64)\n${key("-----", "END ", "PRIVATE KEY-----")}\n${SHA}${SHA}`,
  "a public key": pem("PUBLIC KEY", "\n"),
};

/** Holds on each platform; the rest is tested on Node alone. */
export function describeSecretScan(scan: SecretScan): void {
  describe("a key is found", () => {
    for (const [place, { text, line }] of Object.entries(PLACES)) {
      it(place, async () => {
        for (const [what, value] of Object.entries(KEYS)) {
          const hits = await scan({ path: "notes/a.md", text: text(value) });
          expect
            .soft(
              hits.map((hit) => hit.line),
              `${what} ${place}`,
            )
            .toContain(line);
        }
      });
    }
  });

  it.each(Object.entries(HARMLESS))("%s is no hit", async (_what, text) => {
    expect(await scan({ path: "notes/a.md", text })).toEqual([]);
  });
}
