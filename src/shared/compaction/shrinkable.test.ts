import { describe, expect, test } from "vitest";
import { refusals } from "../loop/history-fixture.ts";
import { storedFile, storedNote } from "../loop/stored-result.ts";
import type { Entry } from "../thread/entry.ts";
import { entriesOf } from "../thread/entry-fixture.ts";
import type { AssistantBlock, Message, UserBlock } from "../thread/messages.ts";
import { shrink } from "../thread/shrink.ts";
import { clearedFiles, shrinkable } from "./shrinkable.ts";

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
const thoughts = (entries: readonly Entry[]) =>
  entries.flatMap(({ message }): AssistantBlock[] =>
    message.role === "assistant" ? message.content.filter(({ type }) => type === "thinking") : [],
  ).length;

const MESSAGES: Message[] = [
  said("look"),
  asks("r", "Read", { file_path: "/w/a.md" }),
  result("r", LONG),
  asks("g", "Grep"),
  result("g", "short"),
  asks("w", "Write", { file_path: "/w/b.md" }),
  result("w", LONG),
  asks("c", "get_weather"),
  result("c", `${LONG}${storedNote(9000, storedFile("c"))}`),
  asks("n", "Glob"),
  result("n", LONG),
];
const at = (messages: readonly Message[]): Entry[] =>
  entriesOf(messages).map((entry) =>
    entry.origin.type === "results"
      ? {
          ...entry,
          origin: { type: "results" as const, stored: [{ callId: "c", path: storedFile("c") }] },
        }
      : entry,
  );
const HISTORY = at(MESSAGES);
const all = { results: HISTORY.length, thinking: HISTORY.length };
const contents = (entries: readonly Entry[]) =>
  entries.flatMap(({ message: { content } }) =>
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
    const messages = at([...MESSAGES, said("and?"), only, said("hello?")]);
    const shrunk = shrink(messages, { results: 0, thinking: messages.length });
    expect(thoughts(shrunk)).toBe(0);
    expect(shrunk).toHaveLength(messages.length - 1);
    expect(refusals(shrunk.map(({ message }) => message))).toEqual([]);
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
    const more = at([...MESSAGES, asks("m", "Read"), result("m", LONG)]);
    expect(shrinkable(more)).toBe(3);
    expect(contents(shrink(more, { results: shrinkable(more), thinking: 0 }))[1]).toBe("short");
    expect(shrinkable(at([said("hello")]))).toBe(0);
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
    expect(shrinkable(at(many))).toBe(0);
    const more = at([...many, asks("h", "Read"), result("h", LONG)]);
    expect(shrinkable(more)).toBe(3);
    expect(shrinkable(at([...MESSAGES, ...many]))).toBe(HISTORY.length);
  });

  test("says which files are not shown any more", () => {
    expect(clearedFiles(HISTORY, all.results)).toEqual(["/w/a.md"]);
    const again = at([
      ...MESSAGES,
      asks("r2", "Read", { file_path: "/w/a.md" }),
      result("r2", LONG),
    ]);
    expect(clearedFiles(again, 4)).toEqual([]);
  });
});
