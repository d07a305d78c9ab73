import { expect, test } from "vitest";
import { assistant, user } from "../loop/history-fixture.ts";
import { createCallIds } from "./call-ids.ts";
import type { Message } from "./messages.ts";

const asked = (...ids: string[]): Message =>
  assistant(...ids.map((id) => ({ type: "tool_use" as const, id, name: "Read", input: {} })));

test("an id that is new and of the right form stays as it is", () => {
  const idOf = createCallIds([asked("toolu_1")]);
  expect(["toolu_2", "call-0", "constructor", "__proto__"].map(idOf)).toEqual([
    "toolu_2",
    "call-0",
    "constructor",
    "__proto__",
  ]);
});

test("an id that the history or the answer has already becomes a new one, each time", () => {
  const idOf = createCallIds([user("x"), asked("call_0", "toolu_renamed_2"), asked("call_1")]);
  const given = ["call_0", "call_0", "call_2", "call_2", "toolu_renamed_4"].map(idOf);
  expect(new Set(["call_0", "call_1", "toolu_renamed_2", ...given]).size).toBe(8);
  expect(given[2]).toBe("call_2");
});

test.each(["", "a b", "é", "a\n", "x".repeat(65), undefined, null, 7, { id: "a" }])(
  "%j becomes one that the API takes",
  (id) => {
    expect(createCallIds([])(id)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  },
);

test("the same history gives the same names", () => {
  const names = () => ["a", "a", ""].map(createCallIds([asked("a")]));
  expect(names()).toEqual(names());
});
