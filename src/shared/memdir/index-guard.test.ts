import { describe, expect, it } from "vitest";
import { dropsMostPointers, LOST_POINTERS_LEAST } from "./index-guard.ts";

const pointers = (from: number, to: number, hook = "hook") =>
  Array.from({ length: to - from }, (_, n) => `- [M${from + n}](m${from + n}.md) - ${hook}`).join(
    "\n",
  );
const before = `# Index\n\n${pointers(0, 60)}\n`;

describe("a rewrite of the index is refused", () => {
  it("INDEX-08: when three pointers and a placeholder stand for sixty", () => {
    const after = `${pointers(0, 3)}\n[Rest of the existing file content remains unchanged...]\n`;
    const refused = dropsMostPointers(before, after);
    expect(refused).toMatchObject({
      before: 60,
      kept: 3,
      placeholder: "[Rest of the existing file content remains unchanged...]",
    });
    expect(refused?.lost).toHaveLength(57);
    expect(refused?.message).toMatch(/Rest of the existing.*3 of 60 pointers.*Use Edit/);
  });

  it("when most pointers are gone without a word", () => {
    expect(dropsMostPointers(before, pointers(0, 29))?.message).toMatch(
      /keeps 29 of 60 .*Use Edit/,
    );
    expect(dropsMostPointers(before, "")).toMatchObject({ kept: 0, placeholder: undefined });
    expect(dropsMostPointers(pointers(0, LOST_POINTERS_LEAST), "")).toBeDefined();
  });

  it.each([
    "... existing content unchanged",
    "... existing content unchanged ...",
    "(other entries remain as before)",
    "<!-- rest of the file stays the same -->",
    "- … (remaining pointers unchanged)",
    "// ... existing lines ...",
    "*[previous entries omitted]*",
    "[... all other memories kept ...]",
    "…rest of index unchanged…",
  ])("when a line stands for what was left out: %s", (line) => {
    expect(dropsMostPointers(before, `${before}${line}\n`)?.placeholder).toBe(line);
    expect(dropsMostPointers(before, `${pointers(0, 58)}\n${line}\n`)).toBeDefined();
  });

  it("when a bare ellipsis takes a pointer's place", () => {
    expect(dropsMostPointers(before, `${pointers(0, 59)}\n...\n`)?.placeholder).toBe("...");
    expect(dropsMostPointers(before, `${before}...\n`)).toBeUndefined();
  });
});

describe("a rewrite of the index passes", () => {
  it.each([
    ["that removes a few", `# Index\n${pointers(5, 60)}\n`],
    ["that removes half", `# Index\n${pointers(30, 60)}\n`],
    ["that keeps the files and rewords everything", pointers(0, 60, "new words")],
    ["that sorts", `${pointers(30, 60)}\n${pointers(0, 30)}\n`],
    [
      "with prose about the rest",
      `${before}\nThe rest of the existing content is kept in the wiki.\n`,
    ],
    [
      "with a hook that sounds like a placeholder",
      `${before}- [R](r.md) - rest of the file unchanged...\n`,
    ],
    ["with links written in another way", before.replaceAll(/\((m\d+\.md)\)/g, "(<./$1>)")],
  ])("%s", (_, after) => {
    expect(dropsMostPointers(before, after)).toBeUndefined();
  });

  it("when the index is small, new, or held such a line before", () => {
    expect(dropsMostPointers(pointers(0, 4), "")).toBeUndefined();
    expect(dropsMostPointers("", before)).toBeUndefined();
    const odd = `${before}[rest of the file unchanged]\n`;
    expect(dropsMostPointers(odd, `${odd}- [N](n.md)\n`)).toBeUndefined();
  });
});
