import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteLength, cutBytes, cutCharacters, decodeText, linesOf, showLine } from "./text.ts";

describe("cutting", () => {
  it("counts characters, not halves of them", () => {
    expect(cutCharacters("🙂🙂🙂", 2)).toBe("🙂🙂");
    expect(cutCharacters("ab", 5)).toBe("ab");
    expect(showLine("🙂🙂🙂", 2)).toMatch(/^🙂🙂 \[cut/);
    expect(showLine("🙂🙂", 2)).toBe("🙂🙂");
  });

  it("never splits a character, and wastes no room", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (text, most) => {
        for (const cut of [cutBytes(text, most), cutCharacters(text, most)]) {
          expect(cut.isWellFormed()).toBe(true);
          expect(text.startsWith(cut)).toBe(true);
        }
        expect([...cutCharacters(text, most)].length).toBe(Math.min(most, [...text].length));
        const cut = cutBytes(text, most);
        const next = [...text][[...cut].length] ?? "";
        expect(byteLength(cut)).toBeLessThanOrEqual(most);
        if (next !== "") expect(byteLength(cut + next)).toBeGreaterThan(most);
      }),
    );
  });
});

describe("decodeText", () => {
  it("keeps the byte order mark and line ends", () => {
    const text = "\ufeffa\r\n会议\n";
    expect(decodeText(new TextEncoder().encode(text))).toBe(text);
  });
  it.each([[[0]], [[0x61, 0, 0x62]], [[0xff, 0xfe]], [[0xc3]], [[0xed, 0xa0, 0x80]]])(
    "calls %j binary",
    (bytes) => {
      expect(decodeText(Uint8Array.from(bytes))).toBeUndefined();
    },
  );
});

describe("linesOf", () => {
  it.each([
    ["", []],
    ["\n", [""]],
    ["a", ["a"]],
    ["a\n", ["a"]],
    ["a\n\nb", ["a", "", "b"]],
    ["a\r\nb\r\n", ["a", "b"]],
  ])("splits %j", (text, lines) => {
    expect(linesOf(text)).toEqual(lines);
  });
});
