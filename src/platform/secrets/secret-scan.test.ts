import type { SecretLintRuleCreator } from "@secretlint/types";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MemdirError } from "../../shared/errors.ts";
import { createSecretScan } from "./secret-scan.ts";
import { describeSecretScan, KEYS, key, pem } from "./secret-scan-fixture.ts";

const scan = createSecretScan();
const scanText = (text: string) => scan({ path: "notes/a.md", text });
const rulesOf = async (text: string) => (await scanText(text)).map((hit) => hit.rule);
const GITHUB = KEYS["a GitHub token"] ?? "";

afterEach(() => vi.restoreAllMocks());

describeSecretScan(scan);

it("finds two different keys on one line", async () => {
  const text = `a\n${KEYS["an AWS key id"]} ${KEYS["an OpenAI project key"]}`;
  expect(await scanText(text)).toEqual([
    { rule: "aws-key-id", line: 2 },
    { rule: "openai", line: 2 },
  ]);
});

it("names a key once, however many rules and spellings find it", async () => {
  expect(await scanText(`“${GITHUB}”\n`)).toEqual([{ rule: "github", line: 1 }]);
});

const NAMED = Object.entries(KEYS).filter(([what]) => !what.startsWith("a URL"));

it.each(NAMED)("finds %s in the file's name", async (what, value) => {
  for (const path of [`${value}.md`, `notes/${value}/a.md`, `a/b-${value}`, `a/${value}_old.md`]) {
    const hits = await scan({ path, text: "harmless" });
    expect
      .soft(
        hits.map((hit) => hit.line),
        what,
      )
      .toEqual([0]);
  }
});

describe("a private key is found", () => {
  const labels = [
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
  ];
  it.each(labels)("%s, with LF, CRLF, indented, quoted, and as JSON", async (label) => {
    for (const text of [
      pem(label, "\n"),
      pem(label, "\r\n"),
      pem(label, "\r\n", "      "),
      pem(label, "\n", "> "),
      pem(label, "\\n"),
      pem(label, "\\\\n"),
      pem(label, " "),
      pem(label, "\n\n"),
      pem(label, "\n").slice(0, 120),
    ]) {
      expect.soft(await rulesOf(text)).toEqual(["privatekey"]);
    }
  });

  it("on the line of its marker, also behind headers", async () => {
    const text = `a\nb\n${pem("RSA PRIVATE KEY", "\n").replace("\n", "\nProc-Type: 4,ENCRYPTED\n\n")}`;
    expect(await scanText(text)).toEqual([{ rule: "privatekey", line: 3 }]);
  });
});

describe("a random value behind a word that announces it is found", () => {
  const secret = key("Kx9mQ2vL", "7pRt4ZsW");
  it.each([
    `password: ${secret}`,
    `"apiKey": "${secret}"`,
    `{\\"client_secret\\": \\"${secret}\\"}`,
    `DB_PASSWORD='${secret}'`,
    `export GITHUB_TOKEN=${secret}`,
    `https://x.io/?access_token=${secret}&b=1`,
    `Authorization: Bearer ${secret}`,
    `curl -H "x: bearer ${secret}${secret}"`,
    `password: |\n  ${secret}`,
    `password: >-\r\n    ${secret}`,
    `| api key | ${secret} |`,
    `**Password**: \`${secret}\``,
    `The password is ${secret}.`,
    `secret => "${secret}"`,
    `secret := "${secret}"`,
    `SECRET_KEY = ${key("9f86d081884c7d65", "9a2feaa0c55ad015")}`,
    `password: ${key("Kx9$mQ", "2!vL7p")}`,
  ])("case %#", async (text) => {
    expect(await rulesOf(text)).toEqual(["assignment"]);
  });
});

it("a URL's password is found for every scheme, user and host", async () => {
  const word = key("Kx9m", "Q2vL");
  for (const text of [
    `mssql+pyodbc://sa:${word}@10.0.0.4/x`,
    `redis://:${word}@cache/0`,
    `HTTPS://user:${word}@git.corp.io/a.git`,
    `amqp://app:${key("hun", "ter2")}@q`,
    `postgres://app:p%40${word}:x@db/x`,
    `ftp://app:${key("pässw", "ört7")}@host`,
  ]) {
    expect.soft(await rulesOf(text)).toContain("url-password");
  }
});

describe("a text can't switch the scan off", () => {
  it.each([
    `<!-- secretlint-disable -->\n${GITHUB}`,
    `// secretlint-disable\n${GITHUB}\n// secretlint-enable`,
    `# secretlint-disable-next-line\n${GITHUB}`,
    `${GITHUB} # secretlint-disable-line`,
    `/* secretlint-disable @secretlint/secretlint-rule-github */ ${GITHUB}`,
    `${GITHUB} gitleaks:allow # pragma: allowlist secret`,
  ])("case %#", async (text) => {
    expect(await rulesOf(text)).toEqual(["github"]);
  });

  it("nor can a rule that ignores", async () => {
    const ignoring: SecretLintRuleCreator = {
      messages: {},
      meta: { id: "i", type: "scanner", recommended: true, supportedContentTypes: ["all"] },
      create: (context) => ({
        file() {
          const message = { message: "", messageId: "i", data: undefined };
          context.ignore({ message, targetRuleId: "*", range: [0, 9] });
          context.report({ message, range: [0, 9] });
        },
      }),
    };
    const hits = await createSecretScan([ignoring])({ path: "a", text: "Kx9mQ2vL7" });
    expect(hits).toContainEqual({ rule: "i", line: 1 });
  });
});

it("a key that is cut by a line wrap is not found, as documented", async () => {
  expect(await scanText(`${GITHUB.slice(0, 20)}\n${GITHUB.slice(20)}`)).toEqual([]);
});

it("a file full of keys names no more than fifty", async () => {
  expect(await scanText(`${GITHUB}\n`.repeat(6_000))).toHaveLength(50);
});

describe("the scanner leaks nothing", () => {
  const broken = (fail: (text: string) => void | Promise<void>): SecretLintRuleCreator => ({
    messages: {},
    meta: { id: "broken", type: "scanner", recommended: true, supportedContentTypes: ["text"] },
    create: () => ({ file: (source) => fail(source.content) }),
  });
  const file = { path: "customer-acme.md", text: `a ${GITHUB}` };

  it.each([
    ["throws", (text: string) => void decodeURIComponent(`%${text}`)],
    ["rejects", (text: string) => Promise.reject(new Error(`at ${text}`))],
  ])("when a rule %s, the file counts as refused, without content", async (_how, fail) => {
    const error = await createSecretScan([broken(fail)])(file).catch((reason) => reason);
    expect(error).toBeInstanceOf(MemdirError);
    expect(error).toMatchObject({ code: "unavailable", path: undefined });
    expect(error.cause).toBeUndefined();
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/Z9|acme|ghp/);
  });

  it("results hold a rule and a line, and nothing is written anywhere", async () => {
    const written: unknown[] = [];
    for (const name of ["log", "info", "warn", "error", "debug", "trace"] as const) {
      vi.spyOn(console, name).mockImplementation((...args) => void written.push(args));
    }
    vi.spyOn(process.stderr, "write").mockImplementation((chunk) => written.push(chunk) > 0);
    vi.spyOn(process.stdout, "write").mockImplementation((chunk) => written.push(chunk) > 0);
    const marks = performance.getEntries().length;
    const hits = await scan(file);
    await createSecretScan([broken(() => Promise.reject(new Error(GITHUB)))])(file).catch(() => {});
    vi.restoreAllMocks();
    expect(hits).toEqual([{ rule: "github", line: 1 }]);
    expect(written).toEqual([]);
    expect(performance.getEntries()).toHaveLength(marks);
  });
});

describe("250 KB take little time, and five times the text about five times the time", () => {
  const quiet = key("-----", "BEGIN ", "PRIVATE KEY-----");
  it.each([
    ["a", "a"],
    ["base64", "aB3/dE9+"],
    ["spaces", " "],
    ["line breaks", "\n"],
    ["hyphens", "-"],
    ["escapes", "\\n\\u0022%3D"],
    ["backslashes", "\\"],
    ["non-ASCII", "é—漢"],
    ["Anthropic prefixes", key("sk-", "ant-")],
    ["OpenAI prefixes", key(" sk-", "proj-a")],
    ["Slack prefixes", key("xo", "xb-")],
    ["Slack segments", key("xo", "xb-1-a_")],
    ["GitHub app prefixes", key("gh", "s_1_")],
    ["GitHub app segments", `${key("gh", "s_1_").repeat(160)}.`],
    ["GitLab prefixes", key("gl", "pat-")],
    ["private keys without a body", `${quiet}\n`],
    ["private keys without an end", `${quiet}\n${"A/b9".repeat(2400)}`],
    ["schemes", "https://"],
    ["users", "https://a:"],
    ["URLs without a host", "://aaaa:aaaaaaaa@"],
    ["keywords", "password"],
    ["assignments", "password=:|=token: "],
    ["assignments without a value", "secret: |\n        "],
    ["keywords and spaces", `password${" ".repeat(300)}`],
    ["AWS secrets and spaces", `aws_secret_access_key${" ".repeat(5000)}`],
    ["values that are too long", `token=${"Kx9mQ2vL".repeat(40)}`],
    ["npm over URLs", "https://x:x-oauth-basi"],
    ["Vault, Figma, Sendgrid", key("SG", ".a.a_a_", " fig", "d_", " hv", "s.")],
    ["disable comments", "secretlint-disable-line "],
    ["keys", `${GITHUB} `],
  ])("%s", { timeout: 10_000 }, async (_what, unit) => {
    // What grows with the square of the length takes far longer than the test may at this one.
    await scanText(unit.repeat(Math.ceil(250_000 / unit.length)).slice(0, 250_000));
  });
});
