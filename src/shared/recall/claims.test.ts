import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { RECALL_CLAIMS } from "../limits/recall.ts";
import { claimsOf } from "./claims.ts";

const paths = (text: string) => claimsOf(text).paths;
const symbols = (text: string) => claimsOf(text).symbols;

test("TRUST-02: a sentence about code claims its file and its function", () => {
  expect(claimsOf("auth lives in src/auth/login.ts, call validateToken()")).toEqual({
    paths: ["src/auth/login.ts"],
    symbols: ["validateToken"],
  });
});

describe("a path", () => {
  it.each([
    ["see src/a.ts.", "src/a.ts"],
    ["(src/a.ts)", "src/a.ts"],
    ["**src/a.ts**: the start", "src/a.ts"],
    ["[login](src/auth/login.ts#L12)", "src/auth/login.ts"],
    ["`./src/a.ts:12`", "src/a.ts"],
    ["src/a.ts:12:5 fails", "src/a.ts"],
    ["`package.json`", "package.json"],
    ["`vite.config.ts:3`", "vite.config.ts"],
    ["`app/[id]/page.tsx`", "app/[id]/page.tsx"],
    ["`src/设计/plan.ts`", "src/设计/plan.ts"],
    ["认证在src/auth/login.ts里", "src/auth/login.ts"],
    ["run `node dev/run.mjs test`", "dev/run.mjs"],
    [".github/workflows/ci.yml", ".github/workflows/ci.yml"],
    ["packages/@scope/a/b.h", "packages/@scope/a/b.h"],
    ["docs//a.md", "docs/a.md"],
  ])("is named by %j", (text, path) => {
    expect(paths(text)).toEqual([path]);
  });

  it.each([
    ...["/etc/passwd.txt", "`/etc/hosts.conf`", "../../x/y.ts", "a/../b/c.ts", "~/a/b.ts"],
    ...["https://a.example/src/x.ts", "a.example.com/src/x.ts", "file:src/a.ts", "bob@x.com/y.ts"],
    ...[
      "C:\\src\\a.ts",
      "C:/src/a.ts",
      "\\\\host\\a.ts",
      "$HOME/a/b.ts",
      "@/a/b.ts",
      "@scope/a/b.js",
    ],
    ...["src/**/*.ts", "src/<name>/a.ts", "and/or", "n/a", "w/e.g.", "2026/07/30", "a.m./p.m."],
    ...["package.json", "`main`", "`Node.js`", "Deno/Node.js", "v1.0/v2.0", "--config=src/a.ts"],
    ...["`other_memory.md`", "[x](other.md)", "`team/style.md`", "notes/MEMORY.md", "büro.ts/über"],
    ...[
      "`res.json`",
      "`session.close`",
      "%2e%2e/a/b.ts",
      "a/b\u202e.ts",
      `${"a/".repeat(300)}b.ts`,
    ],
  ])("is not named by %j", (text) => {
    expect(paths(text)).toEqual([]);
  });

  it("may be absolute where it lies below a root", () => {
    const text =
      "/workspace/app/src/a.ts, /workspace/lib/b.ts, /workspace/app/../x/c.ts, /etc/d.ts";
    expect(claimsOf(text, ["/workspace/app", "/workspace"]).paths).toEqual([
      "src/a.ts",
      "lib/b.ts",
    ]);
  });
});

describe("a symbol", () => {
  it.each([
    ["call validateToken() first", "validateToken"],
    ["auth.validateToken()", "validateToken"],
    ["`validateToken(token, { now })`", "validateToken"],
    ["调用validateToken()函数", "validateToken"],
    ["`reset(all)`", "reset"],
    ["`userName`", "userName"],
    ["`HTTPServer`", "HTTPServer"],
    ["`DAILY_TOKEN_BUDGET`", "DAILY_TOKEN_BUDGET"],
    ["`__init__`", "__init__"],
    ["`session.close`", "close"],
    ["`Session::open`", "open"],
  ])("is named by %j", (text, symbol) => {
    expect(symbols(text)).toEqual([symbol]);
  });

  it.each([
    ...["userName", "`main`", "`README`", "`a_`", "`staging.acme.example`", "`npm run build_all`"],
    ...["`package.json`", "`v1.2.3`", "call it (now)", "f(x)", "prüfeToken()", "`___`", "`a-b_c`"],
  ])("is not named by %j", (text) => {
    expect(symbols(text)).toEqual([]);
  });
});

test("the first five of each count, each once, in the order of the text", () => {
  const text = [6, 5, 6, 4, 3, 2, 1]
    .map((n) => `\`src/f${n}.ts\` \`get_${n}\` call${n}()`)
    .join("\n");
  expect(claimsOf(text)).toEqual({
    paths: [6, 5, 4, 3, 2].map((n) => `src/f${n}.ts`),
    symbols: ["get_6", "call6", "get_5", "call5", "get_4"],
  });
  expect(paths([1, 2, 3, 4, 5, 6].map((n) => `src/f${n}.ts`).join(" "))).toHaveLength(
    RECALL_CLAIMS,
  );
});

describe("hostile text", () => {
  const LENGTH = 250_000;
  it.each([
    ...[
      "`",
      "a",
      "a/",
      "a.",
      ".",
      ":1",
      "a()",
      "`a.b`",
      "`a_b`",
      "*",
      "#",
      "@a",
      "a/b.ts ",
      "`\n",
      "(",
    ],
    ...["_$", "x::", "`a(", "\u202e", "/workspace/", "测", "\\", "a/b.ts:1:1:1", "`src/a.ts"],
  ])("%j, a quarter of a million characters long, is read before the test times out", (piece) => {
    const text = piece.repeat(LENGTH / piece.length);
    expect(claimsOf(text, ["/workspace"]).paths.length).toBeLessThanOrEqual(RECALL_CLAIMS);
  });

  it("never leads out of the workspace and never makes two of one claim", () => {
    const piece = fc.constantFrom(
      ..."/.:`~\\@ #",
      "..",
      "a",
      "b.ts",
      "./",
      "()",
      "x_y",
      "C:",
      "%2e",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (parts) => {
        const { paths, symbols } = claimsOf(parts.join(""), ["/a"]);
        for (const path of paths) expect(path).toMatch(/^(?!\/|\.\.\/)(?!.*\/\.\.(\/|$))[^\\:]+$/);
        expect(new Set([...paths, ...symbols]).size).toBe(paths.length + symbols.length);
      }),
      { numRuns: 2000 },
    );
  });
});
