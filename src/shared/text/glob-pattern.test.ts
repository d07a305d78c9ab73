import { describe, expect, it } from "vitest";
import { compileGlob, literalDirectory } from "./glob-pattern.ts";

function matches(glob: string, path: string): boolean {
  const compiled = compileGlob(glob);
  return compiled.status === "compiled" && compiled.matches(path);
}

describe("compileGlob", () => {
  it.each([
    ["*.md", "a.md"],
    ["*.md", "d/e/a.md"],
    ["*", ".hidden"],
    ["**/*.md", "a.md"],
    ["**/*.md", "d/e/a.md"],
    ["**/**/*.md", "a.md"],
    ["d/**", "d/a"],
    ["d/**", "d/e/a"],
    ["d/**/a", "d/a"],
    ["d/**/a", "d/e/f/a"],
    ["d/?.md", "d/🙂.md"],
    ["d/*.{md,txt}", "d/a.txt"],
    ["{src/**,test/**}", "test/d/a"],
    ["{a,b{c,d}}.md", "bd.md"],
    ["[a-c].md", "b.md"],
    ["[!a-c].md", "d.md"],
    ["[]a].md", "].md"],
    ["\\*.md", "*.md"],
    ["a+(b).md", "a+(b).md"],
    ["a$^|.md", "a$^|.md"],
    ["会议*.md", "会议1.md"],
    ["e\u0301.md", "\u00e9.md"],
    ["a,b.md", "a,b.md"],
    ["a}.md", "a}.md"],
  ])("%j matches %j", (glob, path) => {
    expect(matches(glob, path)).toBe(true);
  });

  it.each([
    ["*.md", "a.mdx"],
    ["*.md", "a.md/b"],
    ["d/*.md", "d/e/a.md"],
    ["d/*.md", "x/d/a.md"],
    ["d/**", "d"],
    ["d/**", "de/a"],
    ["d?e", "d/e"],
    ["d[!x]e/a", "d/e/a"],
    ["[!a].md", "a.md"],
    ["a.md", "axmd"],
    ["*.MD", "a.md"],
  ])("%j does not match %j", (glob, path) => {
    expect(matches(glob, path)).toBe(false);
  });

  it.each([
    "",
    "../**",
    "a/../b",
    "{..,a}/b",
    "{a,b",
    "[abc",
    "[",
    "a\\",
    "[z-a]",
    "a".repeat(1001),
    `${"**/a/".repeat(190)}b`,
  ])("refuses %j with a reason", (glob) => {
    expect(compileGlob(glob)).toMatchObject({ status: "refused", message: expect.any(String) });
  });

  it("takes a long path as it is, and matches no wildcards against one that would take too long", () => {
    const path = `d/${"x".repeat(900)}`;
    expect(matches(path, path)).toBe(true);
    expect(matches("x".repeat(900), path)).toBe(true);
    const slow = compileGlob(`d/${"*x".repeat(200)}`);
    expect(slow.status === "compiled" && slow.isTooLong(path)).toBe(true);
    expect(slow.status === "compiled" && slow.matches(path)).toBe(false);
    expect(slow.status === "compiled" && slow.steps([path])).toBeLessThanOrEqual(52_000);
  });

  it("takes no longer for a hostile pattern", () => {
    const start = performance.now();
    expect(matches(`${"*a".repeat(300)}b`, "a".repeat(900))).toBe(false);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it("knows the directory in front of the wildcards", () => {
    expect(literalDirectory("/a/b/*.md")).toBe("/a/b");
    expect(literalDirectory("/a/b.md")).toBe("/a");
    expect(literalDirectory("/*.md")).toBe("");
    expect(literalDirectory("/a/{b,c}/d")).toBe("/a");
  });
});
