import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemdirError } from "../errors.ts";
import { canonicalRelative } from "../safety/path.ts";
import { memoryFileName } from "./file-name.ts";

const free = () => false;

describe("memoryFileName", () => {
  it("INDEX-10: tells memories apart whose names are not ASCII", () => {
    const taken = new Set<string>();
    const titles = [
      "登录按钮没反应",
      "测试环境地址",
      "测试别 mock 数据库",
      "mock",
      "登录按钮没反应",
    ];
    const names = titles.map((title) => {
      const name = memoryFileName(title, (candidate) => taken.has(candidate));
      taken.add(name);
      return name;
    });
    expect(names).toEqual([
      "登录按钮没反应.md",
      "测试环境地址.md",
      "测试别_mock_数据库.md",
      "mock.md",
      "登录按钮没反应_2.md",
    ]);
  });

  it.each([
    ["No short names!", "no_short_names.md"],
    ["  ../../etc/passwd  ", "etc_passwd.md"],
    [".hidden", "hidden.md"],
    ["Prefers ＡＢＣ", "prefers_abc.md"],
    ["École d’été", "école_d_été.md"],
    ["🚀🚀", "note.md"],
    ["", "note.md"],
    ["\u3164\u200b", "note.md"],
    ["MEMORY", "memory_1.md"],
    ["Memory.md", "memory_md.md"],
    ["CON", "con_1.md"],
  ])("names %j %s", (title, name) => {
    expect(memoryFileName(title, free)).toBe(name);
  });

  it("is always one canonical segment, short, not hidden, and free", () => {
    const unit = fc.constantFrom("binary" as const, "grapheme" as const);
    const title = unit.chain((kind) => fc.string({ unit: kind, maxLength: 300 }));
    fc.assert(
      fc.property(title, fc.nat(5), (text, refusals) => {
        const asked: string[] = [];
        const name = memoryFileName(text, (candidate) => asked.push(candidate) <= refusals);
        expect(asked.at(-1)).toBe(name);
        expect(new Set(asked).size).toBe(refusals + 1);
        expect(canonicalRelative(name)).toEqual({ status: "ok", path: name });
        expect(name).toMatch(/^[^./][^/]*\.md$/);
        expect(name.toLowerCase()).not.toBe("memory.md");
        expect([...name].length).toBeLessThan(80);
      }),
      { numRuns: 2000 },
    );
  });

  it("gives up rather than overwrite or hang", () => {
    expect(() => memoryFileName("a", () => true)).toThrow(MemdirError);
  });
});
