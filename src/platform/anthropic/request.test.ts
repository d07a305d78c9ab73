import { describe, expect, test } from "vitest";
import { createFakeModel } from "../../../dev/fake-model/fake-model.ts";
import type { ModelRequest } from "../../shared/loop/model.ts";
import type { AssistantBlock, Message, UserBlock } from "../../shared/thread/messages.ts";
import { requestBody } from "./request.ts";

const user = (...content: UserBlock[]): Message => ({ role: "user", content });
const said = (...content: AssistantBlock[]): Message => ({ role: "assistant", content });
const text = (value: string) => ({ type: "text" as const, text: value });
const call = (id: string) => ({ type: "tool_use" as const, id, name: "Read", input: { id } });
const result = (id: string) => ({ type: "tool_result" as const, tool_use_id: id, content: id });
const thinking = { type: "thinking" as const, thinking: "hm", signature: "signed" };

const TOOL = {
  name: "Read",
  description: "Reads a file. ".repeat(20),
  input_schema: { type: "object", properties: { id: { type: "string" } } },
};
// Long enough for every model's least cached prefix.
const SYSTEM = ["You are an assistant. ".repeat(200), "Be brief. ".repeat(300)];

function request(messages: Message[], rest: Partial<ModelRequest> = {}): ModelRequest {
  return {
    purpose: "main",
    sessionId: "sesn_1",
    model: "claude-sonnet-5-5",
    maxTokens: 1000,
    system: SYSTEM,
    tools: [TOOL],
    messages,
    ...rest,
  };
}

const blocksOf = (messages: Message[]) =>
  requestBody(request(messages)).messages.flatMap(({ content }) =>
    typeof content === "string" ? [] : content,
  );
/** The places of the marks among the blocks of all messages. */
const marksOf = (messages: Message[]) =>
  blocksOf(messages).flatMap((block, n) => ("cache_control" in block ? [n] : []));

/** A step of so many blocks: calls and their results, as many of each. */
function step(n: number, blocks: number): Message[] {
  const ids = Array.from({ length: blocks / 2 }, (_, at) => `c${n}_${at}`);
  return [said(...ids.map(call)), user(...ids.map(result))];
}

describe("the body", () => {
  test("of the same input is the same bytes, and its input stays as it was", () => {
    const asked = () => request([user(text("Hi")), ...step(0, 30), said(thinking, text("So."))]);
    const input = asked();
    expect(JSON.stringify(requestBody(input))).toBe(JSON.stringify(requestBody(asked())));
    expect(JSON.stringify(requestBody(input))).toBe(JSON.stringify(requestBody(input)));
    expect(input).toEqual(asked());
  });

  test("begins with the bytes of a shorter one's, marks aside", () => {
    const history = [user(text("Hi")), ...step(0, 30)];
    const bytes = (messages: Message[]) =>
      JSON.stringify(requestBody(request(messages)).messages, (key, value: unknown) =>
        key === "cache_control" ? undefined : value,
      );
    const shorter = bytes(history).slice(0, -1);
    expect(bytes([...history, said(text("So.")), user(text("And?"))]).startsWith(shorter)).toBe(
      true,
    );
  });

  test("holds the settings and nothing of the clock", () => {
    const body = requestBody(request([user(text("Hi"))]));
    expect(body).toMatchObject({ max_tokens: 1000, stream: true, thinking: { type: "adaptive" } });
    expect(requestBody(request([user(text("Hi"))], { model: "new-model" }))).not.toHaveProperty(
      "thinking",
    );
  });

  test("heals a lone surrogate that an older row still holds, and leaves thinking alone", () => {
    const half = "xx\ud83c";
    const odd = { ...thinking, thinking: half };
    const blocks = blocksOf([
      user(text(half)),
      said(odd, text(half), call("a")),
      user({ ...result("a"), content: half }),
    ]);
    expect(blocks.map((block) => ("text" in block ? block.text : block.type))).toEqual([
      "xx\uFFFD",
      "thinking",
      "xx\uFFFD",
      "tool_use",
      "tool_result",
    ]);
    expect(blocks[1]).toEqual(odd);
    expect(blocks[4]).toMatchObject({ content: "xx\uFFFD" });
  });
});

describe("the marks", () => {
  test("stand on the end of the system prompt and on the last block", () => {
    const body = requestBody(request([user(text("Hi"), text("there"))]));
    expect(body.system).toMatchObject([{ type: "text" }, { cache_control: { type: "ephemeral" } }]);
    expect(body.system?.[0]).not.toHaveProperty("cache_control");
    expect(marksOf([user(text("Hi"), text("there"))])).toEqual([1]);
    expect(JSON.stringify(body.tools)).not.toContain("cache_control");
  });

  test("are four at most, whatever the conversation", () => {
    for (let steps = 0; steps < 12; steps += 1) {
      for (const blocks of [2, 14, 30, 60]) {
        const history = Array.from({ length: steps }, (_, n) => step(n, blocks)).flat();
        const marks = marksOf([user(text("Hi")), ...history]);
        expect(marks.length).toBeLessThanOrEqual(3);
        expect(marks.at(-1)).toBe(steps * blocks);
      }
    }
  });

  test("stand no further apart than a mark looks back, where much is added at once", () => {
    expect(marksOf([user(...Array.from({ length: 50 }, (_, n) => text(`${n}`)))])).toEqual([
      19, 34, 49,
    ]);
  });

  test("never stand on thinking, not even where it is last", () => {
    const thoughts = Array.from({ length: 40 }, () => said(thinking, thinking, text("So.")));
    const blocks = blocksOf([user(text("Hi")), ...thoughts, said(text("So."), thinking, thinking)]);
    for (const block of blocks) {
      if ("cache_control" in block) expect(block.type).toBe("text");
    }
    expect(blocks.filter((block) => "cache_control" in block)).toHaveLength(3);
  });

  test("a conversation of thinking alone has none", () => {
    expect(marksOf([said(thinking)])).toEqual([]);
  });
});

interface Metered {
  read: number;
  written: number;
  total: number;
}

/** What a cache like the API's makes of these requests, one after the other. */
async function meter(requests: ModelRequest[]): Promise<Metered[]> {
  const fakeModel = createFakeModel({ reply: () => ({ text: "So." }) });
  const metered: Metered[] = [];
  for (const asked of requests) {
    const response = await fakeModel.handle(
      new Request("http://fake-model/v1/messages", {
        method: "POST",
        headers: { "x-api-key": "k", "anthropic-version": "2023-06-01" },
        body: JSON.stringify({ ...requestBody(asked), stream: false }),
      }),
    );
    await response.text();
    const usage = fakeModel.requests.at(-1)?.usage;
    if (!usage) throw new Error(fakeModel.requests.at(-1)?.error);
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
    metered.push({
      read: cache_read_input_tokens,
      written: cache_creation_input_tokens,
      total: input_tokens + cache_read_input_tokens + cache_creation_input_tokens,
    });
  }
  return metered;
}

describe("the cache", () => {
  const HISTORY = [user(text("Hi"))];
  const grown = (steps: Message[][]) =>
    steps.map((_, n) => request([...HISTORY, ...steps.slice(0, n + 1).flat()]));
  const wide = (blocks: number) => grown(Array.from({ length: 6 }, (_, n) => step(n, blocks)));

  async function readsAll(requests: ModelRequest[]): Promise<void> {
    const metered = await meter(requests);
    for (const [n, { read, written, total }] of metered.entries()) {
      const before = metered[n - 1];
      if (before) expect(read).toBe(before.total);
      expect(read + written).toBe(total);
    }
  }

  test.each([2, 14, 20, 22, 30, 46, 60, 120])(
    "of a conversation that grows by %i blocks a step gives back all that was sent before",
    (blocks) => readsAll(wide(blocks)),
  );

  test("gives back all where messages of one block come, answered and not answered", () =>
    readsAll(
      grown([
        [said(text("So.")), user(text("1"))],
        [user(text("2"))],
        [said(text("So.")), user(text("3"))],
        [user(text("4"))],
        [said(text("So.")), user(text("5"))],
      ]),
    ));

  test("gives back all where steps of different sizes follow each other, with joining messages", () =>
    readsAll(
      grown([
        step(0, 60),
        [...step(1, 2), user(text("Also this."))],
        step(2, 40),
        [said(text("So.")), user(text("And?"))],
        step(3, 100),
        step(4, 2),
      ]),
    ));

  test("gives a fork the parent's whole prefix", async () => {
    const parent = request([...HISTORY, ...step(0, 60)]);
    const end = [said(text("So.")), user(text("Write notes."))];
    const [first, fork] = await meter([
      parent,
      { ...parent, messages: [...parent.messages, ...end] },
    ]);
    expect(fork?.read).toBe(first?.total);
  });

  test("another conversation reads tools and system, which come before the messages", async () => {
    const [first, other, changed, bare] = await meter([
      request([user(text("Hi"))]),
      request([user(text("Something else"))]),
      request([user(text("Hi"))], { tools: [{ ...TOOL, description: "Other." }] }),
      request([user(text("Hi"))], { system: [SYSTEM[0] ?? "", "Other."] }),
    ]);
    expect(other?.read).toBeGreaterThan(1500);
    expect(other?.read).toBeLessThan(first?.total ?? 0);
    expect(changed?.read).toBe(0);
    expect(bare?.read).toBe(0);
  });
});
