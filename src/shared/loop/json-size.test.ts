import fc from "fast-check";
import { expect, test } from "vitest";
import { cutJson, jsonBytes } from "./json-size.ts";

const real = (text: string) => new TextEncoder().encode(JSON.stringify(text)).length - 2;
const anyText = fc.string({ unit: "binary", maxLength: 60 });

test("the size is that of the JSON, for every character below U+0100 and some above", () => {
  const codes = [...Array(0x100).keys(), 0x7ff, 0x800, 0x2028, 0xffff, 0x10000, 0x10ffff];
  for (const code of codes) {
    const text = String.fromCodePoint(code);
    expect([code, jsonBytes(text)]).toEqual([code, real(text)]);
  }
  fc.assert(fc.property(anyText, (text) => jsonBytes(text) === real(text)));
});

test("a cut is the longest beginning that fits, and splits no character", () => {
  fc.assert(
    fc.property(anyText, fc.nat(200), (text, most) => {
      const cut = cutJson(text, most);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
      expect(real(cut)).toBeLessThanOrEqual(most);
      const [further = ""] = text.slice(cut.length);
      if (further !== "") expect(real(cut + further)).toBeGreaterThan(most);
    }),
  );
});
