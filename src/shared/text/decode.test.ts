import { describe, expect, it } from "vitest";
import { decodeText, linesOf, showLine } from "./decode.ts";

describe("showLine", () => {
  it("counts characters, not halves of them", () => {
    expect(showLine("🙂🙂🙂", 2)).toMatch(/^🙂🙂 \[cut/);
    expect(showLine("🙂🙂", 2)).toBe("🙂🙂");
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
