import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteLength, cutBytes, cutCharacters } from "./bytes.ts";

describe("cutting", () => {
  it("counts characters, not halves of them", () => {
    expect(cutCharacters("🙂🙂🙂", 2)).toBe("🙂🙂");
    expect(cutCharacters("ab", 5)).toBe("ab");
  });

  it("leaves nothing where there is no room", () => {
    expect(cutBytes("a", -1)).toBe("");
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
