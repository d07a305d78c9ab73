import { readFile } from "node:fs/promises";
import type Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { createFakeModel } from "./fake-model.ts";
import { ask, clientAt, clientOver, MODEL, post } from "./probe.ts";
import { serveFakeModel } from "./serve.ts";

const WEATHER: Anthropic.Tool = {
  name: "get_weather",
  description: "Tells the weather",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

describe("the official client", () => {
  test("gets a whole message, with usage and a request id", async () => {
    const message = await clientOver(createFakeModel()).messages.create(ask("hello there"));
    expect(message.content).toEqual([
      { type: "text", citations: null, text: expect.stringMatching(/^You said: hello there\n/) },
    ]);
    expect(message.stop_reason).toBe("end_turn");
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    expect(message._request_id).toMatch(/^req_/);
  });

  test("streams the same message over loopback as it gets whole", async () => {
    const fakeModel = createFakeModel();
    const served = await serveFakeModel(fakeModel);
    try {
      const client = clientAt(served.url);
      const whole = await client.messages.create(ask("grüße 👋🏽 an alle"));
      const streamed = await client.messages.stream(ask("grüße 👋🏽 an alle")).finalMessage();
      expect(streamed.content).toEqual(whole.content);
      expect(streamed.usage).toEqual(whole.usage);
    } finally {
      await served.close();
    }
  });

  test("sees the events in the order of the API", async () => {
    const fakeModel = createFakeModel();
    fakeModel.enqueue({
      thinking: "hm",
      text: "ok",
      tools: [{ name: "get_weather", input: { city: "Rome" } }],
    });
    const body = { ...ask("x"), tools: [WEATHER], thinking: { type: "adaptive" }, stream: true };
    const response = await fakeModel.handle(
      new Request("http://fake-model/v1/messages?beta=true", {
        method: "POST",
        headers: { authorization: "Bearer test", "anthropic-version": "2023-06-01" },
        body: JSON.stringify(body),
      }),
    );
    const events = (await response.text()).matchAll(/^event: (.*)\ndata: (.*)\n\n/gm);
    const names = [...events].map(([, name, data]) => {
      const { delta, content_block } = JSON.parse(data ?? "{}");
      return [name, delta?.type ?? content_block?.type].filter(Boolean).join(" ");
    });
    expect(names.filter((name, at) => name !== names[at - 1])).toEqual([
      "message_start",
      "ping",
      "content_block_start thinking",
      "content_block_delta thinking_delta",
      "content_block_delta signature_delta",
      "content_block_stop",
      "content_block_start text",
      "content_block_delta text_delta",
      "content_block_stop",
      "content_block_start tool_use",
      "content_block_delta input_json_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  test("never gets half a character in a chunk", async () => {
    const stream = clientOver(createFakeModel()).messages.stream(ask(`a${"👋".repeat(40)}`));
    const chunks: string[] = [];
    stream.on("text", (chunk) => chunks.push(chunk));
    await stream.done();
    expect(chunks.length).toBeGreaterThan(5);
    expect(chunks.filter((chunk) => !chunk.isWellFormed())).toEqual([]);
  });

  test("runs a tool loop with text and parallel tools, streamed", async () => {
    const fakeModel = createFakeModel();
    const cities = ["Rome", "Oslo"];
    const tools = cities.map((city) => ({ name: "get_weather", input: { city } }));
    fakeModel.enqueue({ text: "Looking.", tools });
    fakeModel.enqueue({ text: "Both sunny." });
    const client = clientOver(fakeModel);
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "weather?" }];
    const params = { model: MODEL, max_tokens: 500, tools: [WEATHER], messages };
    const first = await client.messages.stream(params).finalMessage();
    expect(first.stop_reason).toBe("tool_use");
    const uses = first.content.filter((block) => block.type === "tool_use");
    expect(uses.map(({ input }) => input)).toEqual([{ city: "Rome" }, { city: "Oslo" }]);
    expect(new Set(uses.map(({ id }) => id)).size).toBe(2);
    messages.push({ role: "assistant", content: first.content });
    messages.push({
      role: "user",
      content: uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "sunny" })),
    });
    const second = await client.messages.stream(params).finalText();
    expect(second).toBe("Both sunny.");
  });

  test("gets JSON that fits the schema it asked for", async () => {
    const schema = {
      type: "object",
      properties: { kind: { enum: ["a", "b"] }, count: { type: "integer" } },
      required: ["kind", "count"],
      additionalProperties: false,
    };
    const format = { type: "json_schema" as const, schema };
    const params = { ...ask("x"), output_config: { format } };
    const message = await clientOver(createFakeModel()).messages.create(params);
    const [block] = message.content;
    expect(block?.type === "text" && JSON.parse(block.text)).toEqual({ kind: "a", count: 0 });
  });

  test("is made to call the tool that it forces", async () => {
    const tool_choice = { type: "tool" as const, name: "get_weather" };
    const params = { ...ask("hello"), tools: [WEATHER], tool_choice };
    const message = await clientOver(createFakeModel()).messages.create(params);
    const forced = { name: "get_weather", input: { city: "fake-model" } };
    expect(message.content.at(-1)).toMatchObject(forced);
  });

  test("counts as many tokens as the answer reports", async () => {
    const client = clientOver(createFakeModel());
    const { model, messages } = ask("How long is this? ".repeat(40));
    const { input_tokens } = await client.messages.countTokens({ model, messages });
    const message = await client.messages.create({ model, messages, max_tokens: 50 });
    expect(input_tokens).toBe(message.usage.input_tokens);
    expect(input_tokens).toBeGreaterThan(150);
  });

  test("lists models and finds one", async () => {
    const client = clientOver(createFakeModel());
    const models = await client.models.list();
    expect(models.data.map(({ id }) => id)).toContain("claude-haiku-5-5");
    const model = await client.models.retrieve("claude-sonnet-5-5");
    expect(model.max_input_tokens).toBe(1_000_000);
    await expect(client.models.retrieve("gpt-9")).rejects.toMatchObject({ status: 404 });
  });
});

test("the function and all it imports name no module of Node", async () => {
  const seen = new Set<string>();
  const visit = async (file: URL): Promise<void> => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    const source = await readFile(file, "utf8");
    for (const [, name = ""] of source.matchAll(/from "([^"]+)";/g)) {
      if (name.startsWith(".")) await visit(new URL(name, file));
      else expect([file.pathname, name]).toEqual([file.pathname, "zod"]);
    }
  };
  await visit(new URL("./fake-model.ts", import.meta.url));
  expect(seen.size).toBeGreaterThan(20);
});

describe("limits of an answer", () => {
  test("max_tokens cuts the text and says so", async () => {
    const fakeModel = createFakeModel();
    fakeModel.enqueue({ text: "word ".repeat(200) });
    const client = clientOver(fakeModel);
    const message = await client.messages.create({ ...ask("x"), max_tokens: 20 });
    expect(message.stop_reason).toBe("max_tokens");
    expect(message.usage.output_tokens).toBeLessThanOrEqual(20);
  });

  test("max_tokens 0 only warms the cache", async () => {
    const message = await clientOver(createFakeModel()).messages.create({
      ...ask("x"),
      max_tokens: 0,
    });
    expect(message).toMatchObject({ content: [], stop_reason: "max_tokens" });
  });

  test("a stop sequence ends the text before it", async () => {
    const fakeModel = createFakeModel();
    fakeModel.enqueue({ text: "one END two" });
    const message = await clientOver(fakeModel).messages.create({
      ...ask("x"),
      stop_sequences: ["END"],
    });
    expect(message).toMatchObject({
      content: [{ text: "one " }],
      stop_reason: "stop_sequence",
      stop_sequence: "END",
    });
  });
});

describe("who may ask, and what", () => {
  test("no key is a 401, a wrong version a 400, another path a 404", async () => {
    const fakeModel = createFakeModel();
    const none = await post(fakeModel, ask("x"), { headers: { "x-api-key": "" } });
    expect([none.status, none.body.error?.type]).toEqual([401, "authentication_error"]);
    const old = await post(fakeModel, ask("x"), { headers: { "anthropic-version": "2020-01-01" } });
    expect(old.body.error?.message).toContain("2020-01-01");
    const lost = await post(fakeModel, {}, { path: "/v1/complete" });
    expect(lost.body).toMatchObject({
      type: "error",
      error: { type: "not_found_error" },
      request_id: expect.stringMatching(/^req_/),
    });
  });
});

describe("scripts and records", () => {
  test("a step with a match waits for its request, others go in order", async () => {
    const fakeModel = createFakeModel();
    fakeModel.enqueue({ text: "for recall", match: { purpose: "recall" } });
    fakeModel.enqueue({ text: "for s1", match: { session: "s1" } });
    fakeModel.enqueue({ text: "for cats", match: { contains: "cat" } });
    fakeModel.enqueue({ text: "twice", times: 2 });
    const texts: unknown[] = [];
    for (const [text, headers] of [
      ["dog", {}],
      ["a cat", {}],
      ["dog", { "x-memdir-session": "s1" }],
      ["dog", { "x-memdir-purpose": "recall" }],
      ["dog", {}],
      ["dog", {}],
    ] as [string, Record<string, string>][]) {
      const { body } = await post(fakeModel, ask(text), { headers });
      texts.push((body.content as { text: string }[])[0]?.text.split("\n")[0]);
    }
    expect(texts).toEqual(["twice", "for cats", "for s1", "for recall", "twice", "You said: dog"]);
  });

  test("a test's own reply is asked before the policy and after the queue", async () => {
    const fakeModel = createFakeModel({
      reply: ({ purpose }) => (purpose === "dream" ? { text: "own" } : undefined),
    });
    fakeModel.enqueue({ text: "queued" });
    const headers = { "x-memdir-purpose": "dream" };
    const answers = [];
    for (let round = 0; round < 2; round++) {
      answers.push((await post(fakeModel, ask("x"), { headers })).body.content);
    }
    answers.push((await post(fakeModel, ask("x"))).body.content);
    expect(answers).toMatchObject([[{ text: "queued" }], [{ text: "own" }], [{ type: "text" }]]);
  });

  test("the control surface scripts, shows and resets, and never shows a key", async () => {
    const served = await serveFakeModel(createFakeModel());
    try {
      const send = (path: string, body: unknown) =>
        fetch(served.url + path, { method: "POST", body: JSON.stringify(body) });
      const wrong = await send("/__script", [{ text: "never" }, { txet: "typo" }]);
      expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("txet")]);
      expect((await send("/__script", [{ text: "scripted" }])).status).toBe(200);
      const message = await clientAt(served.url).messages.create(ask("x"));
      expect(message.content).toMatchObject([{ text: "scripted" }]);
      const seen = JSON.parse(await (await fetch(`${served.url}/__requests`)).text());
      expect(seen).toMatchObject([
        { path: "/v1/messages", status: 200, reply_id: message.id, body: { max_tokens: 1024 } },
      ]);
      expect(Object.keys(seen[0].headers)).not.toContain("authorization");
      await send("/__reset", {});
      expect(await (await fetch(`${served.url}/__requests`)).json()).toEqual([]);
    } finally {
      await served.close();
    }
  });

  test("an invalid request takes no step, and only so many records are kept", async () => {
    const fakeModel = createFakeModel({ recordLimit: 2 });
    fakeModel.enqueue({ text: "kept" });
    await post(fakeModel, { ...ask("x"), temperature: 1 });
    await post(fakeModel, "{not json");
    expect((await post(fakeModel, ask("x"))).body.content).toMatchObject([{ text: "kept" }]);
    expect(fakeModel.requests.map(({ status }) => status)).toEqual([400, 200]);
  });
});
