import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indexLines, parseIndex } from "./index-lines.ts";
import { formatPointer, parsePointer } from "./pointer.ts";

const paths = (...lines: string[]) => parseIndex(lines.join("\n")).map(({ path }) => path);

describe("a pointer", () => {
  it.each([
    ["- [Title](a.md) - hook", "a.md", "Title", "hook"],
    ["* [Title](a.md) – hook", "a.md", "Title", "hook"],
    ["+ [Title](a.md) — hook - more", "a.md", "Title", "hook - more"],
    ["- [Title](a.md): hook", "a.md", "Title", "hook"],
    ["- [Title](a.md)", "a.md", "Title", ""],
    ["- **[Title](a.md)** - hook", "a.md", "Title", "hook"],
    ["- [x] [Title](a.md) - hook", "a.md", "Title", "hook"],
    ["  - [Title](a.md) hook", "a.md", "Title", "hook"],
    ["2. [Title](a.md) - hook", "a.md", "Title", "hook"],
    ["- [x](<a b.md>)", "a b.md", "x", ""],
    ["- [x](a b.md)", "a b.md", "x", ""],
    ["- [x](a%20b.md)", "a b.md", "x", ""],
    ["- [x](%E8%AE%B0.md)", "记.md", "x", ""],
    ["- [x](记忆.md)", "记忆.md", "x", ""],
    ["- [x](50%.md)", "50%.md", "x", ""],
    ["- [y](sub/dir/z.md)", "sub/dir/z.md", "y", ""],
    ["- [y](./a.md)", "a.md", "y", ""],
    ["- [y](a(1).md)", "a(1).md", "y", ""],
    ["- [y](a\\(1.md)", "a(1.md", "y", ""],
    ['- [y](a.md "a title") - hook', "a.md", "y", "hook"],
    ["- [y](a.md#part) - hook", "a.md", "y", "hook"],
    ["- [y](c#.md)", "c#.md", "y", ""],
    ["- [a [b] \\] c](a.md)", "a.md", "a [b] ] c", ""],
    ["- [Title](other.md)", "other.md", "Title", ""],
  ])("is %s", (line, path, title, hook) => {
    expect(parsePointer(line)).toEqual({ path, title, hook });
  });

  it.each([
    "- [docs](https://example.test/x.md)",
    "- [docs](//example.test/x.md)",
    "- [mail](mailto:x.md)",
    "- [abs](/etc/x.md)",
    "- [up](../x.md)",
    "- [up](a/../../x.md)",
    "- [up](%2e%2e/x.md)",
    "- [up](..%2fx.md)",
    "- [back](a\\b.md)",
    "- [anchor](#a.md)",
    "- ![image](a.md)",
    "- [file](a.txt)",
    "- [bare](a)",
    "- [Title](file.md) - hook",
    "- [Index](MEMORY.md)",
    "- see [x](a.md) for more",
    "[x](a.md) - without a list",
    "See [x](a.md).",
    "| [x](a.md) |",
    "- [x] (a.md)",
    "- [x][a.md]",
    "- [x](a.md",
    "- [x](a\u202eb.md)",
    "-[x](a.md)",
    "",
  ])("is not %s", (line) => {
    expect(parsePointer(line)).toBeUndefined();
  });
});

describe("an index", () => {
  it("INDEX-06: holds no pointers in code, comments and templates", () => {
    expect(
      paths(
        "- [gone](gone.md)",
        "- [docs](https://example.test/x.md)",
        "```",
        "- [no](in-fence.md)",
        "~~~",
        "- [no](still.md)",
        "```",
        "- [x](<a b.md>)",
        "  ~~~~ md",
        "  - [no](in-tildes.md)",
        "  ~~~",
        "  - [no](shorter.md)",
        "  ~~~~",
        "<!-- - [no](comment.md)",
        "- [no](comment2.md)",
        "-->",
        "- [Title](file.md) - hook",
        "prose",
        "",
        "    - [no](indented-code.md)",
        "- [y](sub/dir/z.md) <!-- seen -->",
        "    - [nested](nested.md)",
        "- ```",
        "  - [no](item-fence.md)",
        "- [after](after.md)",
        "`<!--` in a sentence",
        "- [last](last.md)",
      ),
    ).toEqual(["gone.md", "a b.md", "sub/dir/z.md", "nested.md", "after.md", "last.md"]);
  });

  it("INDEX-07: has no frontmatter, a rule at its top is a line", () => {
    expect(paths("---", "Note: prose", "- [B](b.md)", "---", "- [A](a.md) — x")).toEqual([
      "b.md",
      "a.md",
    ]);
  });

  it("INDEX-11: ignores prose", () => {
    const section = ["## Deploy notes", ...Array.from({ length: 12 }, () => "Use [x](b.md) then.")];
    expect(paths("- [A](a.md)", "", ...section)).toEqual(["a.md"]);
  });

  it("keeps exact offsets, whatever the text", () => {
    const piece = fc.constantFrom(
      "- [a](a.md)",
      "\r\n",
      "\n",
      "\r",
      "\ufeff",
      "```",
      "<!--",
      "-->",
      "\t",
      " ",
      "x",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        const lines = indexLines(text);
        const start = text.startsWith("\ufeff") ? "\ufeff" : "";
        expect(start + lines.map((line) => text.slice(line.start, line.end)).join("")).toBe(text);
        for (const line of lines) {
          const raw = text.slice(line.start, line.end);
          expect(raw.replace(/^\ufeff*/, "").replace(/\r?\n$/, "")).toBe(line.text);
        }
        for (const pointer of parseIndex(text)) {
          expect(parsePointer(pointer.text)?.path).toBe(pointer.path);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("takes linear time on hostile lines", () => {
    const hostile = [
      "- [",
      "- [[a]",
      "- [a](",
      "- [a](<",
      "\\(",
      "- [a](b(c)",
      "- *",
      "    ",
      "[x](y) ",
      "<!--",
    ];
    const started = performance.now();
    for (const text of hostile) {
      parseIndex(text.repeat(250_000 / text.length));
      parseIndex(`${"- [a".padEnd(4)}${text.repeat(60_000 / text.length)}`);
      parseIndex(`- [a](${text.repeat(60_000 / text.length)}`);
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe("formatPointer", () => {
  const link = (path: string) =>
    formatPointer({ path, name: "x", description: "d" }).replace(/ - d$/, "");

  it("writes what is read back, and angle brackets where they are needed", () => {
    expect(formatPointer({ path: "a.md", name: "A", description: "b" })).toBe("- [A](a.md) - b");
    expect(formatPointer({ path: "sub/no_names.md" })).toBe(
      "- [no_names](sub/no_names.md) - (no description)",
    );
    expect(link("a b.md")).toBe("- [x](<a b.md>)");
    expect(link("a(1).md")).toBe("- [x](<a(1).md>)");
    expect(link("a%20b.md")).toBe("- [x](a%2520b.md)");
    expect(link("<a>.md")).toBe("- [x](%3Ca%3E.md)");
    expect(link("a.md#b.md")).toBe("- [x](a.md%23b.md)");
    expect(link("mailto:b.md")).toBe("- [x](mailto%3Ab.md)");
    expect(formatPointer({ path: "file.md", name: "Title", description: "d" })).toBe(
      "- [Title](<file.md>) - d",
    );
  });

  it("keeps every sign that is seen, in a link that nothing can leave", () => {
    const hostile = "a](evil.md) [b]\n- [c](d.md)\u202e`\\";
    const line = formatPointer({ path: "a.md", name: hostile, description: hostile });
    const shown = "a](evil.md) [b] - [c](d.md) `\\";
    expect(line).toBe(`- [a\\](evil.md) \\[b\\] - \\[c\\](d.md) \\\`\\\\](a.md) - ${shown}`);
    expect(parseIndex(line)).toMatchObject([{ path: "a.md", title: shown, hook: shown }]);
    expect(formatPointer({ path: "a.md", name: "[draft] x", description: "é" })).toBe(
      "- [[draft] x](a.md) - é",
    );
    // In Markdown a lone backtick would pair with one in the hook, and the link would be code.
    expect(formatPointer({ path: "a.md", name: "`x", description: "y`" })).toBe(
      "- [\\`x](a.md) - y`",
    );
    const joined = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u{1f469}\u200d\u{1f4bb}";
    expect(formatPointer({ path: "a.md", description: `${joined}\u200b` })).toBe(
      `- [a](a.md) - ${joined}`,
    );
    expect(formatPointer({ path: "a.md", name: "\u200b\n", description: "\0" })).toBe(
      "- [a](a.md) - (no description)",
    );
  });

  it("leads to its file and says what the memory says of itself, whatever that is", () => {
    const sign = fc.constantFrom(..."[]()<>`\\*_~:-–—#!|&^\"' aé忆🌍\u200b\u202e\n\r\t.xX1");
    const words = fc
      .oneof(
        fc.string({ unit: "binary" }),
        fc.array(sign).map((signs) => signs.join("")),
      )
      .map((text) => text.slice(0, 50));
    const named = fc.constantFrom("a.md", "b c.md", "d(1).md", "file.md", "e/[f].md", "100%.md");
    fc.assert(
      fc.property(named, words, words, (path, name, description) => {
        const pointer = parsePointer(formatPointer({ path, name, description }));
        expect(pointer?.path).toBe(path);
        const seen = (text: string) => text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Z}]+/gu, "");
        if (/[\p{L}\p{N}]/u.test(description)) {
          // What separates link and hook may stand at the hook's own beginning.
          const hook = seen(description).replace(/^[*_~]*[-\u2010-\u2015\u2212:\uff1a]*/, "");
          expect(seen(pointer?.hook ?? "").endsWith(hook)).toBe(true);
        }
        if (seen(name) !== "") expect(seen(pointer?.title ?? "")).toBe(seen(name));
      }),
      { numRuns: 3000 },
    );
  });

  it("stays below 150 characters and never cuts a character", () => {
    const long = { name: "🌍".repeat(200), description: "é🌍".repeat(200) };
    for (let length = 1; length < 160; length += 1) {
      const path = `${"p".repeat(length)}.md`;
      const line = formatPointer({ path, ...long });
      expect(line.isWellFormed()).toBe(true);
      expect(line).not.toContain("\ufffd");
      expect(parsePointer(line)?.path).toBe(path);
      if (length <= 130) expect(line.length).toBeLessThan(150);
    }
    expect(formatPointer({ path: "a.md", ...long }).length).toBeGreaterThan(140);
  });
});
