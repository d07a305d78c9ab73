import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceText } from "./replace-text.ts";

function once(text: string, wanted: string, replacement: string): string {
  const result = replaceText(text, wanted, replacement, false);
  return result.status === "replaced" ? result.text : result.status;
}

describe("replaceText", () => {
  it("counts hits over the whole text, overlapping ones too", () => {
    expect(replaceText("foo foo\n", "foo", "x", false)).toEqual({ status: "ambiguous", count: 2 });
    expect(replaceText("aaa", "aa", "x", false)).toEqual({ status: "ambiguous", count: 2 });
    expect(replaceText("aaaa", "aa", "x", true)).toMatchObject({ text: "xx", count: 2 });
    expect(replaceText("aaa", "aa", "x", true)).toMatchObject({ text: "xa", count: 1 });
  });

  it.each(["$$100 USD", "$&", "$`x", "$'y", "$1", "$<n>"])("inserts %j as it is", (replacement) => {
    expect(once("A\nB\ntarget\nC", "target", replacement)).toBe(`A\nB\n${replacement}\nC`);
    expect(replaceText("t t", "t", replacement, true)).toMatchObject({
      text: `${replacement} ${replacement}`,
    });
  });

  it("matches across CRLF and keeps the lines it does not touch", () => {
    const text = "line one\r\nline two\r\nline three\r\n";
    expect(once(text, "line one\nline two", "1\n2")).toBe("1\r\n2\r\nline three\r\n");
    expect(once(text, "line two", "2\n2b")).toBe("line one\r\n2\r\n2b\r\nline three\r\n");
    expect(once(text, "two\n", "2\n")).toBe("line one\r\nline 2\r\nline three\r\n");
    expect(once(text, "\nline two", "")).toBe("line one\r\nline three\r\n");
    expect(once(text, "\r\nline two\r\n", "\n")).toBe("line one\nline three\r\n");
    expect(replaceText(text, "\n", ";", true)).toMatchObject({
      text: "line one;line two;line three;",
      count: 3,
    });
  });

  it("leaves mixed line ends alone, and takes the more frequent for new text", () => {
    expect(once("a\nb\r\nc\nd\ne", "b\nc", "x\ny")).toBe("a\nx\ny\nd\ne");
    expect(once("a\r\nb\r\nc\nd", "c", "x\ny")).toBe("a\r\nb\r\nx\r\ny\nd");
    expect(once("a\nb\nX\r\nY a\nb", "a\nb", "")).toBe("ambiguous");
    expect(once("a\nb a\r\nb", "a\nb", "")).toBe("ambiguous");
  });

  it("keeps everything but the hit, whatever the text", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "b", "\n", "\r\n", "\r", "🙂"),
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const result = replaceText(`${before}[mark]${after}`, "[mark]", "", false);
        expect(result).toMatchObject({ status: "replaced", text: before + after });
      }),
    );
  });
});
