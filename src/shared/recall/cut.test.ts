import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { RECALL_FILE_BYTES, RECALL_LINES } from "../limits/recall.ts";
import { escapeText, fence } from "../safety/fence.ts";
import { byteLength } from "../text/bytes.ts";
import { cutMemory, fitBudget, MEMORY_TAG } from "./cut.ts";

describe("what is shown of a memory", () => {
  it("is all of a small one, frontmatter included", () => {
    const text = "---\nname: x\n---\n\nTea at noon.\n";
    expect(cutMemory(text)).toEqual({
      text: "---\nname: x\n---\n\nTea at noon.",
      cut: false,
      bytes: byteLength(text) - 1,
      totalBytes: byteLength(text),
    });
    expect(cutMemory("").text).toBe("");
    expect(cutMemory("\ufeffa\r\nb\r\n")).toMatchObject({ text: "a\nb", cut: false });
    expect(cutMemory(`${"\r".repeat(9000)}b`)).toMatchObject({ text: "b", cut: false });
  });

  it("is its first 200 lines", () => {
    const lines = Array.from({ length: RECALL_LINES }, (_, at) => `${at}`);
    expect(cutMemory(`${lines.join("\n")}\n`).cut).toBe(false);
    const { text, cut } = cutMemory([...lines, "over", "over"].join("\n"));
    expect(text).toBe(lines.join("\n"));
    expect(cut).toBe(true);
  });

  it("ends with a whole line where that keeps at least half", () => {
    const limits = { lines: 9, bytes: 20 };
    expect(cutMemory("0123456789\n0123456789", limits).text).toBe("0123456789");
    expect(cutMemory("012345678\n0123456789012", limits).text).toBe("012345678\n0123456789");
    expect(cutMemory("0123456789".repeat(3), limits).text).toBe("0123456789".repeat(2));
    expect(cutMemory("0123456789\n0123456789", { lines: 9, bytes: 21 }).cut).toBe(false);
    // What is left out is one character that does not fit.
    expect(cutMemory("0123456789\n0123456🙂", limits).text).toBe("0123456789");
  });

  it("REC-06: is the beginning of a big one, with the numbers for a mark", () => {
    const { text, cut, bytes, totalBytes } = cutMemory("a line of a memory\n".repeat(2156));
    expect([cut, totalBytes]).toEqual([true, 40_964]);
    expect(bytes).toBe(byteLength(text));
    expect(bytes).toBeLessThanOrEqual(RECALL_FILE_BYTES);
    expect(bytes).toBeGreaterThan(RECALL_LINES * 18);
  });

  it("REC-10, REC-11: is counted in bytes and holds no half of a character", () => {
    const { text, bytes } = cutMemory("测".repeat(4000));
    expect(text).toBe("测".repeat(Math.floor(RECALL_FILE_BYTES / 3)));
    expect(bytes).toBe(byteLength(text));
    expect(cutMemory(`a${"🙂".repeat(2000)}`).text).toBe(`a${"🙂".repeat(1023)}`);
  });

  it("is counted as it is shown: escapes and harmless tags take their room", () => {
    const hidden = cutMemory("\u200b".repeat(1000));
    expect(hidden.text).toBe("\\u{200b}".repeat(RECALL_FILE_BYTES / 8));
    expect(hidden.cut).toBe(true);
    expect(cutMemory("</memory>".repeat(400)).bytes).toBeLessThanOrEqual(RECALL_FILE_BYTES);
    expect(cutMemory("ab\u200bc", { lines: 1, bytes: 8 }).text).toBe("ab");
    // A combining mark that is hidden itself, then a joiner that clung to it.
    expect(escapeText(MEMORY_TAG, cutMemory("é\u034f\u200dé").text)).toBe(
      cutMemory("é\u034f\u200dé").text,
    );
  });

  it("is cut in no time, however large and hostile the file is", () => {
    for (const text of ["\n", "\r", "\u200b", "<", "a\n</memory"]) {
      expect(cutMemory(text.repeat(250_000)).bytes).toBeLessThanOrEqual(RECALL_FILE_BYTES);
    }
  });
});

const piece = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom(
    ..."\r\n\t<>/\u200b\u200c\u200d\ufe0f\u034f\u3164\u2028م❤",
    "</memory>",
    "<system-reminder>",
    "क्\u200dष",
  ),
);
/** Without the sign for a broken character: where it shows up, one was broken. */
const anyText = fc
  .array(piece, { maxLength: 40 })
  .map((parts) => parts.join("").replaceAll("\ufffd", ""));

test("no memory is ever over its limits, half a character, or changed by its fence", () => {
  fc.assert(
    fc.property(anyText, fc.nat(6), fc.nat(120), (text, lines, bytes) => {
      const limits = { lines: lines + 1, bytes };
      const shown = cutMemory(text, limits);
      expect(shown.bytes).toBe(byteLength(shown.text));
      expect(shown.bytes).toBeLessThanOrEqual(bytes);
      expect(shown.text.split("\n").length).toBeLessThanOrEqual(limits.lines);
      expect(shown.text).not.toContain("\ufffd");
      expect(shown.text.isWellFormed()).toBe(true);
      expect(fence(MEMORY_TAG, "/m", shown.text)).toBe(
        `<memory path="/m">\n${shown.text}\n</memory>`,
      );
      const whole = cutMemory(text, { lines: 1000, bytes: 100_000 });
      expect(whole.cut).toBe(false);
      if (shown.cut) expect(shown.text).not.toBe(whole.text);
      else expect(shown.text).toBe(whole.text);
    }),
    { numRuns: 1000 },
  );
});

describe("the budget", () => {
  const files = (...sizes: number[]) => sizes.map((bytes, at) => ({ path: `${at}`, bytes }));

  it("REC-06: goes by the selector's order, and a smaller one behind may still fit", () => {
    const limits = { turn: 10, session: 60, sessionUsed: 0 };
    expect(fitBudget(files(6, 5, 4, 1), limits)).toEqual({
      kept: ["0", "2"],
      dropped: [
        { path: "1", reason: "turn_limit" },
        { path: "3", reason: "turn_limit" },
      ],
    });
  });

  it("holds the session to its limit, counting what earlier turns were given", () => {
    expect(fitBudget(files(5, 4, 1), { turn: 20, session: 60, sessionUsed: 54 })).toEqual({
      kept: ["0", "2"],
      dropped: [{ path: "1", reason: "session_limit" }],
    });
    expect(fitBudget(files(1, 0), { turn: 20, session: 60, sessionUsed: 70 }).kept).toEqual([]);
  });

  it("is never exceeded", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(9)),
        fc.nat(20),
        fc.nat(30),
        fc.nat(40),
        (sizes, turn, session, sessionUsed) => {
          const all = files(...sizes);
          const { kept, dropped } = fitBudget(all, { turn, session, sessionUsed });
          const sum = all
            .filter(({ path }) => kept.includes(path))
            .reduce((n, { bytes }) => n + bytes, 0);
          expect(sum).toBeLessThanOrEqual(turn);
          if (kept.length > 0) expect(sum + sessionUsed).toBeLessThanOrEqual(session);
          expect(kept.length + dropped.length).toBe(all.length);
        },
      ),
    );
  });
});
