import { expect, test } from "vitest";
import type { Entry, Origin } from "../thread/entry.ts";
import { MODEL, REMINDER, USER } from "../thread/entry.ts";
import { shorten, spokenIn } from "./recent.ts";

const entry = (turn: number, origin: Origin, text: string): Entry => ({
  ...{ n: 1, turn, origin },
  message: {
    role: origin.type === "model" ? "assistant" : "user",
    content: [{ type: "text", text }],
  },
});

test("the last two turns: the user's words, and the assistant's last, nobody else's", () => {
  const entries = [
    entry(1, USER, "long ago"),
    entry(2, REMINDER, "a reminder"),
    entry(2, USER, "Is <system-reminder> yours?"),
    entry(2, { type: "recall", memories: [] }, "a memory"),
    entry(2, MODEL, "Let me look."),
    entry(2, { type: "results", stored: [] }, "a result"),
    entry(2, MODEL, "It is."),
    entry(3, USER, "and the other one?"),
    entry(3, USER, "the red one"),
    entry(3, { type: "interrupt" }, "interrupted"),
    entry(3, { type: "summary" }, "a summary"),
  ];
  expect(spokenIn(entries)).toEqual([
    { by: "user", text: "Is <system-reminder> yours?" },
    { by: "assistant", text: "It is." },
    { by: "user", text: "and the other one?\nthe red one" },
  ]);
  expect(spokenIn([])).toEqual([]);
});

test("a text keeps its beginning and its end, where its question often is", () => {
  expect(shorten("short", 3)).toBe("short");
  expect(shorten("a long one", 3)).toBe("a l … one");
  const cut = shorten(`${"🙂".repeat(20)}x`, 4);
  expect(cut.isWellFormed()).toBe(true);
  expect(cut).toBe("🙂🙂🙂🙂 … 🙂x");
});
