// Cases of the frontmatter corpus, FM-01 to FM-17.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FRONTMATTER_CHARACTERS } from "../text/frontmatter.ts";
import { parseEntry, parseHead } from "./entry.ts";
import { formatEntry } from "./format-entry-fixture.ts";
import { MEMORY_TYPES, memoryType } from "./types.ts";

const file = (...lines: string[]) => `---\n${lines.join("\n")}\n---\nbody\n`;
const described = (value: string) => parseEntry(file("name: n", `description: ${value}`));

describe("frontmatter", () => {
  it("FM-01: keeps a description that holds a colon and a blank", () => {
    expect(
      parseEntry(
        "---\nname: friday-rule\ndescription: Deploy rule: never on Friday\ntype: feedback\n---\nbody",
      ),
    ).toEqual({
      name: "friday-rule",
      description: "Deploy rule: never on Friday",
      type: "feedback",
      body: "body",
    });
  });

  it.each([
    "[draft] notes",
    "[draft]",
    "@alice owns billing",
    "`pnpm` only",
    "*never* mock the db",
    "*never*",
    "&important rule",
    "!important rule",
    "%TEMP% is full",
    '"Learn" then build',
    "? what to do: ask",
    "🚀 ship: now",
    "| a | b",
    "> 5 items: stop",
    "- not a list: really",
    "{ braces } and more",
    "it's: fine",
    "C:\\temp: gone",
  ])("FM-02: shows %s as it is written", (text) => {
    expect(described(text)).toEqual({ name: "n", description: text, body: "body\n" });
  });

  it("FM-02: one bad value spoils no other field, and a bad escape is taken literally", () => {
    const entry = parseEntry(file('name: "C:\\path"', "description: a: b", 'type: "user"'));
    expect(entry).toMatchObject({ name: "C:\\path", description: "a: b", type: "user" });
    expect(entry.diagnostic).toBeUndefined();
  });

  it("FM-04: of two equal keys the first with a value counts, in both readers, and that is said", () => {
    const text = file("name: db", "description: use the replica", "type: user", "type: project");
    expect(parseEntry(text)).toMatchObject({
      name: "db",
      description: "use the replica",
      type: "user",
      diagnostic: "The key type stands there 2 times; the first counts",
    });
    expect(parseHead(text).type).toBe("user");
    const recovered = parseEntry(file("description:", "description: a: b", "description: c"));
    expect(recovered.description).toBe("a: b");
  });

  it.each([
    ["a byte order mark", "\ufeff---\nname: a\ndescription: b\ntype: user\n---\nbody"],
    ["a mark and CRLF", "\ufeff---\r\nname: a\r\ndescription: b\r\ntype: user\r\n---\r\nbody"],
    ["blank lines", "\n \t\r\n---\nname: a\ndescription: b\ntype: user\n---\nbody"],
    ["blanks after the dashes", "--- \t\nname: a\ndescription: b\ntype: user\n---  \nbody"],
    ["a mixture of line ends", "---\r\nname: a\ndescription: b\r\ntype: user\n---\r\nbody"],
    ["dots as the closing fence", "---\nname: a\ndescription: b\ntype: user\n...\nbody"],
    ["an indent", "---\n  name: a\n  description: b\n  type: user\n---\nbody"],
    ["a flow map", "---\n{name: a, description: b, type: user}\n---\nbody"],
    ["keys in capitals", "---\nName: a\nDescription: b\nTYPE: user\n---\nbody"],
    ["comments", "---\n# c\nname: a\n# c\ndescription: b\n  # c\ntype: user # c\n---\nbody"],
  ])("FM-06, FM-07: reads a file with %s, from its head too", (_, text) => {
    const metadata = { name: "a", description: "b", type: "user" };
    expect(parseEntry(text)).toEqual({ ...metadata, body: "body" });
    expect(parseHead(text)).toEqual(metadata);
  });

  it("FM-07: a closing fence may end the file; CR alone is no line end", () => {
    expect(parseEntry("---\nname: a\ntype: user\n---")).toEqual({
      name: "a",
      type: "user",
      body: "",
    });
    const old = "---\rname: a\rtype: user\r---\rbody";
    expect(parseEntry(old)).toEqual({ body: old });
  });

  it.each([
    "----\nhello\n----\nworld",
    "---\n\nExample with no closing fence\n",
    "--- title ---\ntext",
    "---\nHello\n---\nworld",
    "---\nHello there\nNote: this is prose\n---\nworld",
    "---\n---\nbody",
    "---js\n({name: process.exit(1)})\n---\nbody",
    "----\nname: a\n---\nbody",
    "---js\nname: a\n---\nbody",
    "--- title\nname: a\n---\nbody",
    "text first\n---\nname: a\n---\n",
    "---\n- a\n- b\n---\n",
    "---",
    "",
    "\n\n",
  ])("FM-08: takes %j for text, all of it", (text) => {
    expect(parseEntry(text)).toEqual({ body: text });
  });

  it.each([
    ["nothing", "---\n---\n"],
    ["blank lines and a comment", "\ufeff---\n\n# fill in\n \n---\n\n"],
    ["keys without values", '---\nname:\ndescription: ""\ntype: # one of four\n---\n'],
    ["nothing, twice", "---\n---\n\n---\r\nname:\r\n---\r\n"],
  ])("finds the block below one that holds %s", (_, stub) => {
    const real = "---\nname: a\ndescription: b\ntype: user\n---\nbody\n---\nx: y\n---\n";
    const metadata = { name: "a", description: "b", type: "user" };
    expect(parseEntry(stub + real)).toEqual({ ...metadata, body: "body\n---\nx: y\n---\n" });
    expect(parseHead(stub + real)).toEqual(metadata);
    expect(parseEntry(`${stub}---\nname: a\nno end`).diagnostic).toMatch(/not closed/);
  });

  it("takes no text for a block because an empty one is above it", () => {
    const prose = "---\n---\n---\nSaid: in spring\n---\nmore\n";
    expect(parseEntry(prose)).toEqual({ body: prose });
    const list = `${file("name:", "description:")}---\nname: x\n---\n`;
    expect(parseEntry(list)).toEqual({ body: "body\n---\nname: x\n---\n" });
    for (const rest of ["---\nSaid: x\n---\nmore\n", "---\nSaid: x\n"]) {
      expect(parseEntry(`---\nname:\n---\n${rest}`)).toEqual({ body: rest });
    }
    const full = file("name: a", "description: b");
    expect(parseEntry(`${full}---\nname: c\n---\n`).name).toBe("a");
  });

  it("FM-09: only the first block is metadata, and dashes inside it do not end it", () => {
    const body = "one\n---\ntype: user\n---\ntwo";
    expect(parseEntry(`---\nname: a\n---\n${body}`)).toEqual({ name: "a", body });
    const table = file("name: a", "description: |", "    | :---: | :---: |", "    ---", "    x");
    expect(parseEntry(table).description).toBe("| :---: | :---: | --- x");
    expect(parseEntry(file("name: a", "--- b", "type: user"))).toMatchObject({ type: "user" });
  });

  it.each(["1.10", "0755", "no", "null", "~", "true", "1e3", "2026-11-30", "0x1F", ".inf", "<<"])(
    "FM-10: shows %s as it is written",
    (value) => {
      const entry = parseEntry(file(`name: ${value}`, `description: ${value}`, "type: Null"));
      expect(entry).toEqual({ name: value, description: value, body: "body\n" });
    },
  );

  it("FM-10: a flow map is no exception", () => {
    const entry = parseEntry(file("{name: 1.10, description: null, type: user}"));
    expect(entry).toMatchObject({ name: "1.10", description: "null", type: "user" });
  });

  it("FM-11: nesting that a parser would still bear is not given to it", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(described(nested(20)).description).toBe(nested(20));
    expect(described(nested(60))).toMatchObject({ name: "n", diagnostic: expect.any(String) });
    expect(parseEntry(file(`x: ${nested(60)}`, "name: a: b")).name).toBe("a: b");
  });

  it("FM-11: aliases do not expand, and deep nesting costs neither time nor the process", () => {
    const bomb = Array.from({ length: 9 }, (_, index) => {
      const item = index === 0 ? "x" : `*a${index - 1}`;
      return `a${index}: &a${index} [${Array(9).fill(item).join(",")}]`;
    });
    const deep = [
      "[".repeat(6000) + "]".repeat(6000),
      "[".repeat(16_000),
      "{a: ".repeat(4000),
      "- ".repeat(8000),
      "? ".repeat(8000),
      "a: ".repeat(5000),
      "&a ".repeat(5000),
      "!a ".repeat(5000),
      `\n${Array.from({ length: 170 }, (_, index) => `${" ".repeat(index + 1)}a:`).join("\n")}`,
      `\n${Array.from({ length: 40 }, (_, index) => `${" ".repeat(index * 8)}${"- ".repeat(8)}`).join("\n")}`,
    ];
    const started = performance.now();
    expect(parseEntry(file(...bomb)).description).toBeUndefined();
    expect(parseEntry(file(...bomb, "name: a"))).toMatchObject({ name: "a", body: "body\n" });
    for (const value of deep) {
      expect(parseEntry(file("name: n", `description: ${value}`)).body).toContain("body\n");
    }
    expect(performance.now() - started).toBeLessThan(5000);
    expect(described(deep[0] ?? "")).toEqual({
      name: "n",
      body: "body\n",
      diagnostic: "The description is nested too deeply to be read",
    });
  });

  it("FM-11: a block beyond the limit is not parsed, and says so", () => {
    const text = file("name: a", `description: ${"x".repeat(FRONTMATTER_CHARACTERS)}`);
    const entry = parseEntry(text);
    expect(entry.body).toBe(text);
    expect(entry.diagnostic).toMatch(/not closed .* in its first 16384 characters/);
    expect(parseHead(text)).toMatchObject({ diagnostic: expect.stringContaining("not closed") });
    const fits = "x".repeat(FRONTMATTER_CHARACTERS - "name: a\ndescription: \n---\n".length);
    expect(parseEntry(file("name: a", `description: ${fits}`)).description).toBe(fits);
  });

  it("FM-12: nothing is executed, constructed or put on a prototype", () => {
    const entry = parseEntry(
      file(
        "__proto__: {type: user, isAdmin: true}",
        "constructor: {prototype: {isAdmin: true}}",
        'name: !!js/function "function(){return 1}"',
        "description: !!binary aGVsbG8=",
      ),
    );
    expect(entry).toEqual({
      name: "function(){return 1}",
      description: "!!binary aGVsbG8=",
      body: "body\n",
    });
    expect("isAdmin" in {}).toBe(false);
    expect(Object.getPrototypeOf(entry)).toBe(Object.prototype);
  });

  it.each([
    ["first line\n  second line", "first line second line"],
    [">-\n  one\n  two", "one two"],
    ["|\n  one\n\n  two\n", "one two"],
    ["|2-\n  one", "one"],
    ['"one\n  two\\nthree"', "one two three"],
    ["\n  - a\n  - b", "- a - b"],
    ["{a: 1}", "{a: 1}"],
    ["\n  a: 1", "a: 1"],
    ["first: line\n  second line", "first: line second line"],
    ["first: line\nsecond line without an indent", "first: line second line without an indent"],
    [">\n\tfoo", "foo"],
    ["a\u2028b\u0085c\vd", "a b c d"],
  ])("FM-13: puts %j on one readable line", (value, shown) => {
    expect(described(value).description).toBe(shown);
  });

  it.each([
    ["fix #42 in the parser # really", "fix #42 in the parser # really"],
    ["# all of it", "# all of it"],
    ["one # two\n  three", "one # two three"],
    ['"quoted # text" # comment', "quoted # text"],
    ["text\n# a comment of its own", "text"],
  ])("reads ` #` in an unquoted description as text: %j", (value, shown) => {
    expect(described(value).description).toBe(shown);
  });

  it("FM-14: a block that the head does not close is told from none", () => {
    const lines = Array.from({ length: 45 }, (_, index) => `  line ${index}`);
    const text = file("description: |", ...lines, "type: feedback");
    expect(parseHead(text)).toEqual({
      diagnostic:
        'The frontmatter is not closed by a line "---" in its first 30 lines; it counts as text',
    });
    expect(parseEntry(text)).toMatchObject({ type: "feedback", body: "body\n" });
    expect(parseHead(text, 60).type).toBe("feedback");
    const open = "---\nname: a\ntype: user\nno end\n";
    expect(parseEntry(open)).toMatchObject({ body: open, diagnostic: expect.any(String) });
  });

  it.each([
    ["name:\u00a0foo", "foo"],
    ["name：foo", "foo"],
    ["name: \u201cfoo: bar\u201d", "\u201cfoo: bar\u201d"],
    ["\u200bname: a", "a"],
    ["name: a\u200bb", "a\u200bb"],
    ["name : a", "a"],
  ])("FM-15: survives the look-alikes of %j", (line, name) => {
    expect(parseEntry(file(line)).name).toBe(name);
    expect(parseEntry(file(line, "description: d"))).toMatchObject({ name, description: "d" });
  });

  it.each([
    ["Feedback", "feedback"],
    ['"feedback "', "feedback"],
    ["[user]", undefined],
    ["banana", undefined],
    ["../../x", undefined],
    ["constructor", undefined],
    ["", undefined],
  ])("FM-16: type %j reads as %s", (value, type) => {
    const entry = parseEntry(file("name: a", `type: ${value}`));
    expect(entry.type).toBe(type);
    expect(entry.name).toBe("a");
  });

  it("FM-16: reads the nested form; the top level wins", () => {
    expect(parseEntry(file("metadata: {type: reference, name: n}"))).toMatchObject({
      type: "reference",
      name: "n",
    });
    const both = file("metadata:", "  type: user", "  name: inner", "name: outer", "type: project");
    expect(parseEntry(both)).toMatchObject({ name: "outer", type: "project" });
    expect([null, 1, {}, ["user"], undefined].map(memoryType)).toEqual(Array(5).fill(undefined));
    expect(MEMORY_TYPES.map((type) => memoryType(` ${type.toUpperCase()}\n`))).toEqual(
      MEMORY_TYPES,
    );
  });

  it.each([
    ["2026-11-30", Date.UTC(2026, 10, 30)],
    ["2026-11-30T10:20:30.5Z", Date.UTC(2026, 10, 30, 10, 20, 30, 500)],
    ["'2026-11-30 10:20'", Date.UTC(2026, 10, 30, 10, 20)],
    ["2026-11-30T10:20:30+0200", Date.UTC(2026, 10, 30, 8, 20, 30)],
    ["yesterday", undefined],
    ["1", undefined],
    ["2026-13-40", undefined],
  ])("reads modified %s without a clock or a zone of its own", (value, modified) => {
    expect(parseEntry(file(`modified: ${value}`)).modified).toBe(modified);
    expect(parseEntry(file("metadata:", `  modified: ${value}`)).modified).toBe(modified);
  });

  it("FM-17: reads back what it writes, one physical line a key", () => {
    const line = fc.string({ unit: "binary", maxLength: 400 }).map((text) => `x${text}y`);
    const type = fc.constantFrom(undefined, ...MEMORY_TYPES);
    fc.assert(
      fc.property(
        line,
        line,
        type,
        fc.string({ unit: "binary" }),
        (name, description, kind, body) => {
          const text = formatEntry({ name, description, type: kind, body });
          const shown = (value: string) =>
            value
              .split(/[\n\r\v\f\x85\u2028\u2029]/)
              .map((part) => part.trim())
              .filter(Boolean)
              .join(" ");
          expect(parseEntry(text)).toEqual({
            name: shown(name),
            description: shown(description),
            ...(kind && { type: kind }),
            body,
          });
          expect(text.slice(0, text.length - body.length).split("\n")).toHaveLength(kind ? 6 : 5);
        },
      ),
    );
    const hard = 'Use when: "quoted" \\ back\nnew line — 日本語 🌍';
    const back = parseEntry(formatEntry({ name: "n", description: hard, body: "" }));
    expect(back.description).toBe('Use when: "quoted" \\ back new line — 日本語 🌍');
  });
});
