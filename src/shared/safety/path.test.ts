import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PATH_BYTES, PATH_SEGMENT_BYTES } from "../limits/files.ts";
import { canonicalPath, canonicalRelative, isWithin } from "./path.ts";

const REFUSED: [string, string][] = [
  ["", "empty"],
  ["   ", "empty"],
  ["a/b", "relative"],
  ["~/a", "relative"],
  ["~", "relative"],
  [" /a", "relative"],
  ["/a/..", "dot_dot"],
  ["/..", "dot_dot"],
  ["/a/../b", "dot_dot"],
  ["/memories/sub/..", "dot_dot"],
  ["/a\\..\\b", "backslash"],
  ["/a\\b", "backslash"],
  ["\\\\srv\\share\\m", "unc"],
  ["\\\\?\\UNC\\srv\\share\\m", "unc"],
  ["//srv/share", "unc"],
  ["//", "unc"],
  ["C:\\x", "backslash"],
  ["/C:/x", "drive"],
  ["/a\u0000.png", "control_character"],
  ["/a\nb", "control_character"],
  ["/a\u2028b", "control_character"],
  ["/a\u202eb", "control_character"],
  ["/a\u2066b", "control_character"],
  ["/a\u200bb", "control_character"],
  ["/a\u200db", "control_character"],
  ["/a\ufeffb", "control_character"],
  ["/a\u{e0041}b", "control_character"],
  ["/a\u3164b", "control_character"],
  ["/%2e%2e/x", "percent_encoding"],
  ["/a%2Fb", "percent_encoding"],
  ["/a%5cb", "percent_encoding"],
  ["/a%00b", "percent_encoding"],
  ["/a%252e", "percent_encoding"],
  ["/a\u2215b", "look_alike"],
  ["/a\u2044b", "look_alike"],
  ["/a\u29f8b", "look_alike"],
  ["/a\uff0fb", "look_alike"],
  ["/a\uff3cb", "look_alike"],
  ["/a\u29f5b", "look_alike"],
  ["/a\u2100b", "look_alike"],
  ["/．．/x", "dots_only"],
  ["/．/x", "dots_only"],
  ["/.../x", "dots_only"],
  ["/\u2025/x", "dots_only"],
  ["/\u3002\u3002/x", "dots_only"],
  ["/a\ud800b", "lone_surrogate"],
  ["file:///memories/a.md", "url"],
  ["/file:///x", "url"],
  ["/a.md ", "whitespace"],
  ["/ a.md", "whitespace"],
  ["/a /b", "whitespace"],
  ["/a\u00a0/b", "whitespace"],
  [`/${"记".repeat(86)}`, "too_long"],
  [`/${"a".repeat(PATH_SEGMENT_BYTES + 1)}`, "too_long"],
  [`/${"a/".repeat(PATH_BYTES)}`, "too_long"],
];

const ACCEPTED: [string, string][] = [
  ["/", "/"],
  ["/a", "/a"],
  ["/a/", "/a"],
  ["/a//b", "/a/b"],
  ["/a/./b", "/a/b"],
  ["/memories/./", "/memories"],
  ["/notes 50%.md", "/notes 50%.md"],
  ["/a%20b", "/a%20b"],
  ["/会议/🙂.md", "/会议/🙂.md"],
  ["/❤️.md", "/❤️.md"],
  ["/½.md", "/½.md"],
  ["/e\u0301te\u0301", "/été"],
  ["/.claude/..a/a..b", "/.claude/..a/a..b"],
  ["/a: note.md", "/a: note.md"],
  [`/${"a".repeat(PATH_SEGMENT_BYTES)}`, `/${"a".repeat(PATH_SEGMENT_BYTES)}`],
];

describe("canonicalPath", () => {
  it.each(REFUSED)("refuses %j by the rule %s", (raw, rule) => {
    expect(canonicalPath(raw)).toMatchObject({ status: "refused", rule });
  });
  it.each(ACCEPTED)("gives %j the one form %j", (raw, path) => {
    expect(canonicalPath(raw)).toEqual({ status: "ok", path });
  });
  it("never shows an invisible character in its message", () => {
    const result = canonicalPath("/a\u202e\u0000b");
    expect(result).toMatchObject({ message: expect.stringContaining("/a\\u{202e}\\u{0}b") });
  });
});

describe("canonicalRelative", () => {
  it.each(
    REFUSED.filter(([raw, rule]) => rule !== "relative" && raw.startsWith("/") && rule !== "unc"),
  )("refuses %j without its slash too", (raw, rule) => {
    expect(canonicalRelative(raw.slice(1))).toMatchObject({ status: "refused", rule });
  });
  it.each([
    ["/a", "absolute"],
    ["C:", "drive"],
    ["c:/x", "drive"],
    ["file:///x", "url"],
    [".", "empty"],
    ["./", "empty"],
    ["", "empty"],
  ])("refuses %j by the rule %s", (raw, rule) => {
    expect(canonicalRelative(raw)).toMatchObject({ status: "refused", rule });
  });
  it("makes one path of three spellings", () => {
    const paths = ["a/b.md", "a/./b.md", "a//b.md"].map((raw) => canonicalRelative(raw));
    expect(new Set(paths.map((path) => JSON.stringify(path))).size).toBe(1);
  });
});

describe("isWithin", () => {
  it("keeps a sibling with the same prefix outside", () => {
    expect(isWithin("/t1/memory", "/t1/memory-evil/x.md")).toBe(false);
    expect(isWithin("/memories", "/memoriessub")).toBe(false);
    expect(isWithin("/memories", "/memories")).toBe(true);
    expect(isWithin("/memories", "/memories/a")).toBe(true);
    expect(isWithin("/", "/anything")).toBe(true);
  });
});

describe("every accepted path", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "/",
      "//",
      ".",
      "..",
      "．",
      "\\",
      "%2e",
      "%",
      "a",
      "é",
      "e\u0301",
      " ",
      "C:",
      "記",
      "🙂",
      "\u0958",
      "‥",
    ),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  const raw = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

  it("is its own canonical form and holds nothing that could escape", () => {
    fc.assert(
      fc.property(raw, (text) => {
        const results = [canonicalPath(`/${text}`), canonicalRelative(text)];
        for (const [index, result] of results.entries()) {
          if (result.status === "refused") continue;
          const again = index === 0 ? canonicalPath(result.path) : canonicalRelative(result.path);
          expect(again).toEqual(result);
          expect(result.path.split("/")).not.toContain("..");
          expect(result.path).not.toMatch(/\/\/|\\|\0/);
          expect(result.path.normalize("NFC")).toBe(result.path);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
