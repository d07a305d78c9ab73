import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeText } from "./decode.ts";
import { whereHalved, whyUnreadable } from "./unreadable.ts";

const bytes = (...parts: (string | number)[]) =>
  new Uint8Array(
    parts.flatMap((part) =>
      typeof part === "number" ? [part] : [...new TextEncoder().encode(part)],
    ),
  );

test("TRUTH-08: names what no reader takes, with line, column and byte", () => {
  expect(whyUnreadable(bytes("moved\u0000 to Oslo"))).toBe(
    "a NUL (U+0000) at line 1, column 6 (byte 6)",
  );
  expect(whyUnreadable(bytes("日本\n🙂é\u0000"))).toBe(
    "a NUL (U+0000) at line 2, column 3 (byte 14)",
  );
  expect(whyUnreadable(bytes("a\n", 0xff, "b", 0))).toBe(
    "a byte that is not UTF-8 at line 2, column 1 (byte 3)",
  );
  expect(whyUnreadable(bytes("a", 0, 0xff))).toMatch(/^a NUL .*\(byte 2\)/);
  expect(whyUnreadable(bytes("ab", 0xe2, 0x82))).toMatch(/\(byte 3\)/);
  expect(whyUnreadable(bytes("ab", 0xef, 0xbf, "c"))).toMatch(/\(byte 3\)/);
  expect(whyUnreadable(bytes("ab", 0xef))).toMatch(/\(byte 3\)/);
  expect(whyUnreadable(bytes("ab", 0xed, 0xa0, 0x80))).toMatch(/\(byte 3\)/);
});

test("has nothing against any text: marks, replacement characters, controls but NUL", () => {
  for (const text of ["", "\ufeffa", "\ufffd", "a\u0007\u001b[1m", "\u2028", "🙂", "\r"]) {
    expect(whyUnreadable(bytes(text))).toBeUndefined();
  }
});

test("refuses exactly what a reader refuses", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (any) => {
      expect(whyUnreadable(any) === undefined).toBe(decodeText(any) !== undefined);
    }),
  );
});

test("finds half a character in a text, where UTF-8 would put another one in its place", () => {
  expect(whereHalved("whole 🙂")).toBeUndefined();
  expect(whereHalved("🙂\nab\ud83d")).toBe("line 2, column 3");
  expect(whereHalved("\ude42")).toBe("line 1, column 1");
});
