import { describe, expect, test } from "vitest";
import { refusals } from "../loop/history-fixture.ts";
import type { AssistantBlock, Message, UserBlock } from "../loop/messages.ts";
import { keptFile, keptNote } from "../loop/stored-result.ts";
import { filesCleared, shrink, shrinkable } from "./shrink.ts";

const said = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const asks = (id: string, name: string, input: Record<string, unknown> = {}): Message => ({
  role: "assistant",
  content: [
    { type: "thinking", thinking: `about ${id}`, signature: "signed" },
    { type: "tool_use", id, name, input },
  ],
});
const result = (id: string, content: string): Message => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});
const LONG = "x".repeat(1000);
const thoughts = (messages: readonly Message[]) =>
  messages.flatMap((message): AssistantBlock[] =>
    message.role === "assistant" ? message.content.filter(({ type }) => type === "thinking") : [],
  ).length;

const HISTORY: Message[] = [
  said("look"),
  asks("r", "Read", { file_path: "/w/a.md" }),
  result("r", LONG),
  asks("g", "Grep"),
  result("g", "short"),
  asks("w", "Write", { file_path: "/w/b.md" }),
  result("w", LONG),
  asks("c", "get_weather"),
  result("c", `${LONG}${keptNote(9000, keptFile("c"))}`),
  asks("n", "Glob"),
  result("n", LONG),
];
const all = { results: HISTORY.length, thinking: HISTORY.length };
const contents = (messages: readonly Message[]) =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])),
  );

describe("shrinking", () => {
  test("leaves a marker where the tool gives the result again, and a path where all of it is kept", () => {
    const [read, grep, write, weather, glob] = contents(shrink(HISTORY, all));
    expect(read).toMatch(/old result of this Read .* Call Read again/);
    expect(grep).toBe("short");
    expect(write).toBe(LONG);
    expect(weather).toMatch(/All of it is in \/session\/results\/c\.txt: Read it/);
    expect(glob).toMatch(/Call Glob again/);
  });

  test("leaves out thinking, and messages that were nothing else", () => {
    const only: Message = {
      role: "assistant",
      content: [{ type: "redacted_thinking", data: "secret" }],
    };
    const messages = [...HISTORY, said("and?"), only, said("hello?")];
    const shrunk = shrink(messages, { results: 0, thinking: messages.length });
    expect(thoughts(shrunk)).toBe(0);
    expect(shrunk).toHaveLength(messages.length - 1);
    expect(refusals(shrunk)).toEqual([]);
  });

  test("changes nothing behind its place, and nothing more when it is done again", () => {
    const some = { results: 4, thinking: 6 };
    const once = shrink(HISTORY, some);
    expect(once.slice(6)).toEqual(HISTORY.slice(6));
    expect(shrink(once, some)).toEqual(once);
    expect(JSON.stringify(shrink(HISTORY, all))).toBe(JSON.stringify(shrink(HISTORY, all)));
  });

  test("keeps the five newest results", () => {
    expect(shrinkable(HISTORY)).toBe(0);
    const more = [...HISTORY, asks("m", "Read"), result("m", LONG)];
    expect(shrinkable(more)).toBe(3);
    expect(contents(shrink(more, { results: shrinkable(more), thinking: 0 }))[1]).toBe("short");
    expect(shrinkable([said("hello")])).toBe(0);
  });

  test("the results of the newest answer stay, however many: nobody has read them yet", () => {
    const ids = ["a", "b", "c", "d", "e", "f", "g"];
    const calls: AssistantBlock[] = ids.map((id) => ({
      type: "tool_use",
      id,
      name: "Read",
      input: {},
    }));
    const results: UserBlock[] = ids.map((id) => ({
      type: "tool_result",
      tool_use_id: id,
      content: LONG,
    }));
    const many: Message[] = [
      said("look"),
      { role: "assistant", content: calls },
      { role: "user", content: results },
    ];
    expect(shrinkable(many)).toBe(0);
    const more = [...many, asks("h", "Read"), result("h", LONG)];
    expect(shrinkable(more)).toBe(3);
    expect(shrinkable([...HISTORY, ...many])).toBe(HISTORY.length);
  });

  test("says which files are not shown any more", () => {
    expect(filesCleared(HISTORY, shrink(HISTORY, all))).toEqual(["/w/a.md"]);
    const again = [...HISTORY, asks("r2", "Read", { file_path: "/w/a.md" }), result("r2", LONG)];
    const some = { results: 4, thinking: 4 };
    expect(filesCleared(again, shrink(again, some))).toEqual([]);
  });
});
