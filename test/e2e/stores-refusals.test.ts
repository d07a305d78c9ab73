// What a memory store refuses, in which words.

import { expect, test } from "vitest";
import { sharedService } from "./service.ts";
import { caller, collect, newStore } from "./stores-fixture.ts";

const service = await sharedService();
const client = await service.client();
const call = caller(service, await service.token());
const store = await newStore(client);
const memory = await client.beta.memoryStores.memories.create(store, {
  path: "/a.md",
  content: "a",
});

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [n, "v"]));
const SECRET = `ghp_${"aB3dE5gH7j".repeat(4).slice(0, 36)}`;
const update = () => `/${store}/memories/${memory.id}`;
const memories = () => `/${store}/memories`;
const versions = () => `/${store}/memory_versions`;

type Refusal = [string, () => [string, string, unknown?], RegExp, number?];

const REFUSALS: Refusal[] = [
  ["no name", () => ["POST", "", {}], /^name: /],
  ["an empty name", () => ["POST", "", { name: "" }], /^name: .*1 to 255/],
  ["a long name", () => ["POST", "", { name: "🙂".repeat(256) }], /^name: .*1 to 255/],
  ["a control character", () => ["POST", "", { name: "a\u0007b" }], /^name: .*control/],
  ["a long description", () => ["POST", "", { name: "n", description: "d".repeat(1025) }], /1024/],
  ["17 pairs", () => ["POST", "", { name: "n", metadata: many(17) }], /^metadata: 17.*16/],
  ["a long key", () => ["POST", "", { name: "n", metadata: { ["k".repeat(65)]: "" } }], /64/],
  ["a long value", () => ["POST", "", { name: "n", metadata: { k: "v".repeat(513) } }], /512/],
  ["null on creation", () => ["POST", "", { name: "n", metadata: { k: null } }], /^metadata\.k: /],
  ["a kind of one's own", () => ["POST", "", { name: "n", metadata: { kind: "auto" } }], /kind/],
  [
    "no kind",
    () => ["POST", `/${store}`, { metadata: { kind: null } }],
    /^metadata\.kind: .*custom/,
  ],
  ["17 pairs in the end", () => ["POST", `/${store}`, { metadata: many(17) }], /^metadata: 17/],
  ["an unknown field", () => ["POST", "", { name: "n", colour: 1 }], /colour/],
  ["no JSON", () => ["POST", memories(), "{nope"], /JSON/],
  [
    "a NUL",
    () => ["POST", memories(), { path: "/x.md", content: "a\nmoved\u0000 to Oslo" }],
    /x\.md.*NUL.*line 2, column 6 \(byte 8\)/,
  ],
  [
    "a NUL in new content",
    () => ["POST", update(), { content: "moved\u0000 to Oslo" }],
    /NUL.*line 1, column 6/,
  ],
  [
    "half a character of content",
    () => ["POST", memories(), '{"path":"/x.md","content":"a\\nmoved\\ud83d"}'],
    /^content: .*line 2, column 6/,
  ],
  ["half a character", () => ["POST", memories(), '{"path":"/\\ud800","content":""}'], /^path: /],
  [
    "a large body",
    () => ["POST", memories(), { path: "/x", content: "x".repeat(1_000_001) }],
    /1000000/,
    413,
  ],
  ["no content", () => ["POST", memories(), { path: "/x" }], /^content: .*""/],
  ["null content", () => ["POST", memories(), { path: "/x", content: null }], /^content: .*""/],
  [
    "much content",
    () => ["POST", memories(), { path: "/x", content: "é".repeat(51_201) }],
    /^content: .*102400/,
  ],
  [
    "much new content",
    () => ["POST", update(), { content: "x".repeat(102_401) }],
    /^content: .*102400/,
  ],
  ["no path", () => ["POST", memories(), { content: "" }], /^path: /],
  [
    "a hash in capitals",
    () => [
      "POST",
      update(),
      { precondition: { type: "content_sha256", content_sha256: "A".repeat(64) } },
    ],
    /^precondition\.content_sha256: .*64 lowercase/,
  ],
  [
    "no hash",
    () => ["POST", update(), { precondition: { type: "content_sha256" } }],
    /^precondition\.content_sha256: /,
  ],
  [
    "another precondition",
    () => ["POST", update(), { precondition: { type: "etag" } }],
    /^precondition\.type: /,
  ],
  [
    "no hash to expect",
    () => ["DELETE", `${update()}?expected_content_sha256=`],
    /^expected_content_sha256: /,
  ],
  ["a view", () => ["GET", `${memories()}?view=all`], /^view: .*"basic".*"full"/],
  ["a view of one", () => ["GET", `${update()}?view=all`], /^view: /],
  ["a depth", () => ["GET", `${memories()}?depth=2`], /^depth: /],
  [
    "a prefix that is no folder",
    () => ["GET", `${memories()}?path_prefix=/notes`],
    /^path_prefix: .*end in "\/"/,
  ],
  ["an empty prefix", () => ["GET", `${memories()}?path_prefix=`], /^path_prefix: /],
  ["a cursor", () => ["GET", `${memories()}?page=nope`], /^page: /],
  [
    "a cursor of another prefix",
    () => ["GET", `${memories()}?path_prefix=/b/&page=ImEubWQi`],
    /^page: /,
  ],
  ["a cursor of versions", () => ["GET", `${versions()}?page=ImEubWQi`], /^page: /],
  ["a cursor of stores", () => ["GET", "?page=ImEubWQi"], /^page: /],
  ["a limit", () => ["GET", "?limit=101"], /^limit: .*100/],
  ["a flag", () => ["GET", "?include_archived=yes"], /^include_archived: /],
  [
    "a time",
    () => ["GET", `${versions()}?created_at[gte]=yesterday`],
    /^created_at\[gte\]: .*RFC 3339/,
  ],
  ["an operation", () => ["GET", `${versions()}?operation=moved`], /^operation: /],
  ["a number", () => ["GET", `/${store}/changes?after=-1`], /^after: /],
  ["a long wait", () => ["GET", `/${store}/changes?wait=31`], /^wait: .*30/],
  ["no target", () => ["POST", `/${store}/rewind`, {}], /`to`.*`session_id`/],
  [
    "two targets",
    () => ["POST", `/${store}/rewind`, { to: "2026-01-01T00:00:00Z", session_id: "s" }],
    /either/,
  ],
  ["a loose time", () => ["POST", `/${store}/rewind`, { to: "5" }], /^to: .*RFC 3339/],
  [
    "a secret",
    () => ["POST", memories(), { path: "/s.md", content: `one\ntoken: ${SECRET}\n` }],
    /line 2/,
  ],
  ["a new secret", () => ["POST", update(), { content: SECRET }], /line 1/],
];

test.each(REFUSALS)(
  "%s is refused by name, and nothing is done",
  async (_, request, says, status = 400) => {
    const before = await state();
    const [method, path, body] = request();
    const answer = await call(method, path, body);
    expect(answer).toMatchObject({
      status,
      body: {
        type: "error",
        error: {
          type: status === 413 ? "request_too_large" : "invalid_request_error",
          message: expect.stringMatching(says),
        },
        request_id: expect.stringMatching(/^req_/),
      },
    });
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
    expect(await state()).toEqual(before);
  },
);

const HOSTILE = [
  "",
  " ",
  "/",
  "a.md",
  "//a.md",
  "/a//b.md",
  "/a/./b.md",
  "/a/../b.md",
  "/..",
  "/../../u/bob/a.md",
  "/a/",
  "/a/..\u2028/b",
  "/a\u0000b",
  "/a\u200bb",
  "/a\u202eb",
  "/a\u2029b",
  "/a\nb",
  "/a\\b",
  "\\\\host\\share",
  "/C:/a",
  "/%2e%2e/a",
  "/a%2fb",
  "/a%00",
  "/a\uff0fb",
  "/\u2024\u2024/a",
  "/e\u0301.md",
  "/file:///etc",
  "/ a",
  "/a ",
  "/...",
  `/${"a".repeat(256)}`,
  `/${"é/".repeat(350)}x`,
  `/${"a/".repeat(20)}b`,
];

test("hostile paths are refused with their rule, in bodies and in queries, and reach nothing", async () => {
  const before = await state();
  for (const path of HOSTILE) {
    const bodies: [string, string, unknown?][] = [
      ["POST", memories(), { path, content: "" }],
      ["POST", update(), { path }],
    ];
    // "/" is the whole store, and the empty one is refused as such above.
    if (path !== "/" && path !== "") {
      const prefix = `${path}/`;
      bodies.push(["GET", `${memories()}?path_prefix=${encodeURIComponent(prefix)}`]);
    }
    for (const [method, url, body] of bodies) {
      const answer = await call(method, url, body);
      expect([path, method, answer.status]).toEqual([path, method, 400]);
      expect(answer.body).toMatchObject({
        error: {
          type: "invalid_request_error",
          message: expect.stringMatching(/^path(_prefix)?: .{10,}/),
        },
      });
    }
  }
  expect(await state()).toEqual(before);
  const longest = `/${"a/".repeat(19)}b`;
  expect((await call("POST", memories(), { path: longest, content: "" })).status).toBe(200);
  const most = `/${"n".repeat(200)}/${"n".repeat(200)}/${"n".repeat(200)}/é🙂.md`;
  expect((await call("POST", memories(), { path: most, content: "" })).status).toBe(200);
});

/** Everything that a refused request could have changed. */
async function state() {
  const all = await collect(client.beta.memoryStores.list());
  const history = await collect(client.beta.memoryStores.memoryVersions.list(store));
  return { all, history };
}
