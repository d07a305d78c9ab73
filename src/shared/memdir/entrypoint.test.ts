import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { INDEX_BYTES, INDEX_LINES } from "../limits/memory.ts";
import { cutIndex } from "./entrypoint.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;
const shownLines = (text: string) => text.split("\n\n> Notice:")[0]?.split("\n") ?? [];

describe("cutIndex", () => {
  it("INDEX-01: shows at most 200 lines, and says with numbers what is missing", () => {
    const lines = Array.from({ length: 238 }, (_, n) => `- [M${n}](m${n}.md) - hook`);
    const cut = cutIndex(lines.join("\n"));
    expect(cut).toMatchObject({ cutBy: "lines", lines: 238, hidden: 38 });
    expect(shownLines(cut.text)).toEqual(lines.slice(0, INDEX_LINES));
    expect(cut.text).toMatch(
      /238 lines and \d+ bytes; the limit of 200 lines cut it, and 38 lines/,
    );
    expect(cutIndex(lines.slice(0, 200).join("\n")).cutBy).toBeUndefined();
  });

  it("INDEX-02: measures bytes of UTF-8, and cuts at a line's end", () => {
    const line = `- [${"记".repeat(20)}](a.md) — ${"忆".repeat(60)}`;
    const raw = Array(110).fill(line).join("\n");
    expect(bytes(raw)).toBe(28_159);
    const cut = cutIndex(raw);
    expect(cut).toMatchObject({ cutBy: "bytes", bytes: 28_159 });
    expect(cut.text).toContain("28159 bytes");
    expect(cut.text).not.toContain("\ufffd");
    expect(bytes(cut.text)).toBeLessThanOrEqual(INDEX_BYTES);
    expect(shownLines(cut.text)).toEqual(Array(110 - cut.hidden).fill(line));
  });

  it.each([
    ["one giant line", "🌍".repeat(49_250)],
    ["a giant first line", `${"🌍".repeat(7500)}\n${"- [a](a.md)\n".repeat(10)}`],
  ])("INDEX-03: of %s something is shown, whole characters, within the limit", (_, raw) => {
    const cut = cutIndex(raw);
    expect(bytes(cut.text)).toBeLessThanOrEqual(INDEX_BYTES);
    expect(bytes(cut.text)).toBeGreaterThan(INDEX_BYTES - 20);
    expect(cut.text).not.toContain("\ufffd");
    expect(cut.text.isWellFormed()).toBe(true);
    expect(cut.text.startsWith("🌍".repeat(1000))).toBe(true);
    expect(cut.text).toMatch(/> Notice: .*not shown or not in full/);
  });

  it("INDEX-07: what stands between two rules counts like everything else", () => {
    const cut = cutIndex(`---\nNote: ${"prose ".repeat(4400)}\n---\n- [A](a.md) — x\n`);
    expect(cut).toMatchObject({ cutBy: "bytes", hidden: 3 });
    expect(bytes(cut.text)).toBeLessThanOrEqual(INDEX_BYTES);
    expect(cut.text.startsWith("---\n\n> Notice:")).toBe(true);
  });

  it("blames the lines when only the notice takes the room of the last ones", () => {
    const cut = cutIndex(
      Array(238)
        .fill(`- [M](m.md) ${"x".repeat(92)}`)
        .join("\n"),
    );
    expect(cut.cutBy).toBe("lines");
    expect(bytes(cut.text)).toBeLessThanOrEqual(INDEX_BYTES);
    const full = cutIndex(Array(238).fill("x".repeat(124)).join("\n"));
    expect(full).toMatchObject({ cutBy: "lines" });
    expect(full.hidden).toBeGreaterThan(38);
    expect(bytes(full.text)).toBeLessThanOrEqual(INDEX_BYTES);
  });

  it("never goes over its bytes or its lines, whatever the text", () => {
    const line = fc.string({ unit: "binary", maxLength: 300 });
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 60 }),
        fc.integer({ min: 400, max: 3000 }),
        (all, most) => {
          const cut = cutIndex(all.join("\n"), { lines: 20, bytes: most });
          expect(bytes(cut.text)).toBeLessThanOrEqual(most);
          expect(cut.text.isWellFormed()).toBe(true);
          if (cut.cutBy) expect(cut.text).toContain(`${cut.lines} lines and ${cut.bytes} bytes`);
          else expect(cut.text).toBe(all.join("\n").toWellFormed().trimEnd());
        },
      ),
    );
  });
});
