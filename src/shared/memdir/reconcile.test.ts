import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalRelative } from "../safety/path.ts";
import { indexLines, parseIndex } from "./index-lines.ts";
import { indexWarning, reconcileIndex, type TopicFile } from "./reconcile.ts";

const files = (...paths: string[]): TopicFile[] =>
  paths.map((path) => ({ path, description: "d" }));
const text = (index: string | undefined, ...paths: string[]) =>
  reconcileIndex({ index, files: files(...paths) }).text;

describe("reconcileIndex", () => {
  it("INDEX-05: gives a topic file its line, from its own description", () => {
    const orphan = {
      path: "feedback_no_short_names.md",
      name: "Names",
      description: "no short ones",
    };
    const result = reconcileIndex({
      index: "- [A](a.md) - x\n",
      files: [orphan, { path: "a.md" }],
    });
    expect(result).toEqual({
      text: "- [Names](feedback_no_short_names.md) - no short ones\n- [A](a.md) - x\n",
      added: ["feedback_no_short_names.md"],
      dropped: [],
      duplicates: [],
      changed: true,
    });
  });

  it("says that a description is missing, and keeps every sign of one that is there", () => {
    const nothing = ["", "  ", "-", "\u200b", "|", '""'].map((description, n) => ({
      path: `${n}.md`,
      description,
    }));
    const lines = reconcileIndex({ index: "", files: [{ path: "a.md" }, ...nothing] }).text ?? "";
    expect(lines.trim().split("\n")).toHaveLength(7);
    for (const line of lines.trim().split("\n")) expect(line).toMatch(/ - \(no description\)$/);
    const description = "[draft] `make C:\\new` *and* <b> - never (2.1)";
    expect(reconcileIndex({ index: "", files: [{ path: "a.md", description }] }).text).toBe(
      `- [a](a.md) - ${description}\n`,
    );
  });

  it("INDEX-06: drops what points nowhere and nothing else", () => {
    const index = [
      "# Index",
      "- [gone](gone.md)",
      "- [docs](https://example.test/x.md)",
      "```",
      "- [no](in-fence.md)",
      "```",
      "- [Title](file.md)",
      "- [x](<a b.md>)",
      "- [y](sub/dir/z.md)",
      "Prose with [a link](gone.md).",
      "",
    ];
    const result = reconcileIndex({
      index: index.join("\n"),
      files: files("a b.md", "sub/dir/z.md"),
    });
    expect(result.text).toBe(index.filter((line) => !line.startsWith("- [gone]")).join("\n"));
    expect(result).toMatchObject({ dropped: ["gone.md"], added: [] });
  });

  it("puts new lines on top in the order given: above the first pointer, below a heading", () => {
    expect(text(undefined, "b.md", "a.md")).toBe("- [b](b.md) - d\n- [a](a.md) - d\n");
    expect(text("# I\n\nIntro:\n- [a](a.md)\n", "c.md", "b.md", "a.md")).toBe(
      "# I\n\nIntro:\n- [c](c.md) - d\n- [b](b.md) - d\n- [a](a.md)\n",
    );
    expect(text("# I\n\nprose\n", "a.md")).toBe("# I\n\n- [a](a.md) - d\n\nprose\n");
    expect(text("# I", "a.md")).toBe("# I\n\n- [a](a.md) - d");
    expect(text("prose", "a.md")).toBe("- [a](a.md) - d\n\nprose");
    expect(text("\ufeff- [a](a.md)\n", "b.md", "a.md")).toBe(
      "\ufeff- [b](b.md) - d\n- [a](a.md)\n",
    );
    expect(text("\ufeff- [gone](gone.md)\n", "b.md")).toBe("\ufeff- [b](b.md) - d\n");
  });

  it("keeps what follows from being drawn into the list", () => {
    const index = "# I\n\n    - [code](gone.md)\n";
    expect(text(index, "a.md")).toBe(
      "# I\n\n- [a](a.md) - d\n\n<!-- -->\n\n    - [code](gone.md)\n",
    );
  });

  it("keeps line ends and whether the last line has one", () => {
    expect(text("- [a](a.md)\r\n- [g](gone.md)\r\n", "b.md", "a.md")).toBe(
      "- [b](b.md) - d\r\n- [a](a.md)\r\n",
    );
    expect(text("- [a](a.md)\n- [g](gone.md)", "a.md")).toBe("- [a](a.md)");
    expect(text("- [a](a.md)\r\n- [g](gone.md)", "a.md")).toBe("- [a](a.md)");
    expect(text("- [g](gone.md)\n- [a](a.md)", "a.md")).toBe("- [a](a.md)");
    expect(text("- [a](a.md)   \n\n\n", "a.md")).toBe("- [a](a.md)   \n\n\n");
  });

  it("keeps a second line with words of its own, and drops a repetition", () => {
    const index = "- [a](a.md) - x\n- [b](b.md)\n- [again](a.md) - y\n- [b](b.md) \n";
    const result = reconcileIndex({ index, files: files("a.md", "b.md") });
    expect(result.text).toBe("- [a](a.md) - x\n- [b](b.md)\n- [again](a.md) - y\n");
    expect(result.duplicates).toEqual(["a.md", "b.md"]);
    expect(result.dropped).toEqual([]);
  });

  it("gives up a line of its own making where a writer has put one in own words", () => {
    const file = { path: "a.md", name: "A", description: "the first" };
    const own = "- [A](a.md) - in my words\n";
    const made = reconcileIndex({ index: "", files: [file] }).text ?? "";
    for (const index of [own + made, made + own, made + own + made, `${made}\n# B\n${own}`]) {
      const result = reconcileIndex({ index, files: [file] });
      expect(result.text).toBe(index.replaceAll(made, ""));
      expect(result.duplicates).toEqual(["a.md"]);
    }
    expect(reconcileIndex({ index: made, files: [file] }).changed).toBe(false);
  });

  it("an empty index stays what it was: none is undefined, one is empty", () => {
    const nothing = { added: [], dropped: [], duplicates: [], changed: false };
    expect(reconcileIndex({ index: undefined, files: [] })).toEqual({
      text: undefined,
      ...nothing,
    });
    expect(reconcileIndex({ index: "", files: [] })).toEqual({ text: "", ...nothing });
    expect(reconcileIndex({ index: "- [g](g.md)\n", files: [] })).toMatchObject({
      text: "",
      changed: true,
    });
  });

  it("lists *.md files only, and never the index", () => {
    const paths = ["MEMORY.md", "a.txt", "../x.md", "/x.md", "./x.md", "a\nb.md", "b.MD", ""];
    expect(text(undefined, ...paths)).toBeUndefined();
    expect(text(undefined, "memory.md", "sub/MEMORY.md")).toBe(
      "- [memory](memory.md) - d\n- [MEMORY](sub/MEMORY.md) - d\n",
    );
  });

  it("leaves the words of a line to nowhere that holds others, without its link", () => {
    const index =
      "- [G](gone.md) - what\n  was\n- [H](gone.md)\n    ```\n    - [no](code.md)\n    ```\n- [a](a.md)\n";
    const result = reconcileIndex({ index, files: files("a.md") });
    expect(result.text).toBe(
      "- (gone) G - what\n  was\n- (gone) H\n    ```\n    - [no](code.md)\n    ```\n- [a](a.md)\n",
    );
    expect(result.dropped).toEqual(["gone.md"]);
    expect(text("- [G](gone.md)\n  - [H](gone.md)\n- [a](a.md)\n", "a.md")).toBe("- [a](a.md)\n");
    expect(text("- x\n  - [G](gone.md)\n  - [a](a.md)\n", "a.md")).toBe("- x\n  - [a](a.md)\n");
  });

  it("adds as many lines as an index may hold, the newest, and none twice", () => {
    const many = files(...Array.from({ length: 100 }, (_, n) => `memory_${n}.md`));
    const once = reconcileIndex({ index: "# I\n", files: many, bytes: 1000 });
    expect(once.added.length).toBeGreaterThan(20);
    expect(once.added).toEqual(many.slice(0, once.added.length).map(({ path }) => path));
    expect(new TextEncoder().encode(once.text).length).toBeLessThanOrEqual(1000);
    const again = reconcileIndex({ index: once.text, files: many, bytes: 1000 });
    expect(again).toMatchObject({ added: [], changed: false });
  });

  it("takes 2,000 files in one pass", () => {
    const many = Array.from({ length: 2000 }, (_, index) => ({ path: `memory_${index}.md` }));
    const started = performance.now();
    const once = reconcileIndex({ index: "# I\n", files: many });
    expect(once.added).toHaveLength(2000);
    expect(reconcileIndex({ index: once.text, files: many }).changed).toBe(false);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe("whatever the files, the index and its prose are", () => {
  const segment = fc.oneof(
    fc.constantFrom(
      "a",
      "b",
      "c d",
      "e(1)",
      "f(",
      "g)",
      "h#",
      "i%20",
      "j%",
      "<k>",
      "记忆",
      "l.md#",
      "file",
      "x:y",
      "'\"",
      "*m*",
      "__proto__",
    ),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
  );
  const path = fc
    .array(segment, { minLength: 1, maxLength: 3 })
    .map((parts) => canonicalRelative(`${parts.join("/")}.md`))
    .filter((found) => found.status === "ok")
    .map((found) => found.path)
    .filter((found) => found !== "MEMORY.md");
  const words = fc.option(fc.string({ unit: "binary", maxLength: 200 }), { nil: undefined });
  const tree = fc.uniqueArray(fc.record({ path, name: words, description: words }), {
    maxLength: 8,
    selector: (file) => file.path,
  });
  const target = fc.oneof(
    path,
    fc.constantFrom("a.md", "b.md", "gone.md", "c d.md", "https://x.test/a.md", "file.md"),
  );
  const pointer = fc
    .tuple(
      fc.constantFrom(
        "- ",
        "* ",
        "  - ",
        "    - ",
        "+ ",
        "1. ",
        "\t- ",
        "- see ",
        "",
        "- ```",
        "- **",
      ),
      fc.constantFrom("Title", "x", "a [b]", "]", ""),
      target,
      fc.constantFrom("", " - hook", " — hook", ": hook", " <!--", "** x"),
    )
    .map(
      ([mark, title, to, hook]) => `${mark}[${title}](${to.includes(" ") ? `<${to}>` : to})${hook}`,
    );
  const prose = fc.constantFrom(
    "",
    "# Heading",
    "prose",
    "  indented",
    "    code",
    "```",
    "~~~",
    "  ```",
    "    ```",
    "<!--",
    "-->",
    "---",
    "- item",
    "> quote",
    "- ```",
    "\ufeff",
  );
  const index = fc
    .tuple(
      fc.array(fc.oneof(pointer, pointer, prose, fc.string()), { maxLength: 14 }),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      fc.constantFrom("", "\ufeff"),
    )
    .map(([lines, end, last, mark]) => mark + lines.join(end) + (last ? end : ""));
  /** A line that begins with such a mark and becomes the first one is read without it. */
  const plain = (line: string) => line.replaceAll("\ufeff", "");
  const input = fc.record({ index: fc.option(index, { nil: undefined }), files: tree });

  it("each file has a line, none goes nowhere, and doing it twice changes nothing", () => {
    fc.assert(
      fc.property(input, (given) => {
        const result = reconcileIndex(given);
        const present = new Set(parseIndex(result.text ?? "").map((line) => line.path));
        expect(present).toEqual(new Set(given.files.map((file) => file.path)));
        expect(result.changed).toBe((result.text ?? "") !== (given.index ?? ""));
        const again = reconcileIndex({ index: result.text, files: given.files });
        expect(again).toMatchObject({ text: result.text, added: [], dropped: [], changed: false });
      }),
      { numRuns: 1500 },
    );
  }, 60_000);

  it("every line that is no pointer keeps its bytes and its place among the others", () => {
    fc.assert(
      fc.property(input, (given) => {
        const result = reconcileIndex(given);
        const old = given.index ?? "";
        const kept = indexLines(old)
          .filter((line) => !line.pointer)
          .map((line) => plain(line.text));
        const now = indexLines(result.text ?? "").map((line) => plain(line.text));
        // The last line end goes with a dropped last line, and a blank line before it is then the end.
        while (!old.endsWith("\n") && kept.at(-1) === "") kept.pop();
        let at = 0;
        for (const line of now) if (at < kept.length && line === kept[at]) at += 1;
        expect(at).toBe(kept.length);
        if (old.endsWith("\n") && now.length > 0) expect(result.text?.endsWith("\n")).toBe(true);
        if (old.startsWith("\ufeff")) expect(result.text?.startsWith("\ufeff")).toBe(true);
      }),
      { numRuns: 1500 },
    );
  }, 60_000);

  it("lines to files that are there keep their wording and order", () => {
    fc.assert(
      fc.property(input, (given) => {
        const there = new Set(given.files.map((file) => file.path));
        const wanted = parseIndex(given.index ?? "").filter((line) => there.has(line.path));
        const now = (reconcileIndex(given).text ?? "")
          .split(/\r?\n/)
          .map((line) => plain(line).trim());
        const unique = wanted
          .map((line) => plain(line.text).trim())
          .filter((line, at, all) => all.indexOf(line) === at);
        let at = 0;
        for (const line of now) if (at < unique.length && line === unique[at]) at += 1;
        expect(at).toBe(unique.length);
      }),
      { numRuns: 1000 },
    );
  }, 60_000);
});

describe("indexWarning", () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, n) => `- [M${n}](m${n}.md)`).join("\n");

  it("INDEX-01: tells the writer in numbers what is not shown", () => {
    expect(indexWarning(`${lines(200)}\n`)).toBeUndefined();
    expect(indexWarning(lines(238))).toMatch(/238 lines, limit 200, 38 not shown/);
    expect(indexWarning(lines(239))).toMatch(/239 lines, limit 200, 39 not shown/);
    expect(indexWarning("")).toBeUndefined();
  });

  it("counts bytes where they are the limit", () => {
    expect(indexWarning(`- [a](a.md) ${"忆".repeat(9000)}`)).toMatch(
      /27012 bytes, limit 25000, 1 not/,
    );
  });
});
