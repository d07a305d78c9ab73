import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { expect, test } from "vitest";
import { answers, idOf, say, sharedService, stored } from "./service.ts";
import {
  confirm,
  ended,
  outline,
  paused,
  result,
  resultsOf,
  script,
  sender,
  session,
  statusesOf,
  toldModel,
  untilPaused,
  usesOf,
  WEATHER,
  weather,
  write,
} from "./waiting-fixture.ts";

const service = await sharedService();
const client = await service.client();
const second = await service.client();
const send = sender(client);
const last = <T>(list: readonly T[]): T | undefined => list.at(-1);

test("the model is told of the client's tools behind the agent's own, in every request the same", async () => {
  const own = await session(client, {}, [WEATHER, { ...WEATHER, name: "b-tool" }]);
  await send(own.id, say("hello"));
  await ended(client, own.id);
  await send(own.id, say("hello again"));
  await ended(client, own.id, 2);
  const lists = service.model.requests
    .filter((one) => one.session === own.id && one.purpose === "main")
    .map((one) => JSON.stringify((one.body as { tools: unknown }).tools));
  expect(new Set(lists).size).toBe(1);
  const tools = JSON.parse(lists[0] ?? "[]");
  expect(tools.map(({ name }: { name: string }) => name)).toEqual([
    ...["Read", "Write", "Edit", "Delete", "Glob", "Grep"],
    ...["get_weather", "b-tool"],
  ]);
  expect(tools[6].input_schema).toEqual(WEATHER.input_schema);
  const made = await client.beta.sessions.retrieve(own.id);
  expect(made.agent.tools).toMatchObject([{ type: "agent_toolset_20260401" }, WEATHER, {}]);
});

test("a call goes to the client, and its result to the model", async () => {
  const own = await session(client, {}, [WEATHER]);
  script(service.model, own, { tools: [weather("Oslo")] }, { text: "It rains." });
  const { events, open } = await untilPaused(client, own);
  const [use] = usesOf(events);
  expect(use).toMatchObject({
    type: "agent.custom_tool_use",
    name: "get_weather",
    input: { city: "Oslo" },
  });
  expect(open).toEqual([use?.id]);
  await send(own.id, result(use?.id ?? "", "rain, 4 degrees"));
  const all = await ended(client, own.id);
  expect(answers(all)).toEqual(["It rains."]);
  expect(outline(all)).toEqual([
    "user.message",
    "session.status_running",
    "agent.custom_tool_use",
    "session.status_idle",
    "user.custom_tool_result",
    "session.status_running",
    "agent.message",
    "session.status_idle",
  ]);
  expect(toldModel(service.model, own)).toEqual(['"rain, 4 degrees"']);
});

test("calls of all kinds are one message of results in their order, whoever answers first", async () => {
  const own = await session(client, { permission_mode: "ask" }, [WEATHER]);
  script(
    service.model,
    own,
    {
      tools: [
        weather("Oslo"),
        write(own.at("a.md")),
        { name: "Glob", input: { pattern: "*.md" } },
        weather("Rome"),
      ],
    },
    { text: "Done." },
  );
  const { open } = await untilPaused(client, own);
  const [oslo = "", change = "", rome = ""] = open;
  await send(own.id, result(rome));
  expect((await paused(client, own.id, 2)).open).toEqual([oslo, change]);
  await send(own.id, confirm(change), result(oslo, "cold", true));
  await ended(client, own.id);
  expect(toldModel(service.model, own)).toEqual([
    '"cold"',
    expect.stringContaining("Created"),
    expect.any(String),
    '"(no output)"',
  ]);
  const body = service.model.requests.findLast((one) => one.session === own.id)?.body;
  const messages = (body as { messages: { role: string; content: { is_error?: boolean }[] }[] })
    .messages;
  expect(
    last(messages)
      ?.content.slice(0, 4)
      .map((block) => block.is_error === true),
  ).toEqual([true, false, false, false]);
});

test("an answer that comes before the turn stands still is taken, and the turn never stops", async () => {
  const own = await session(client, {}, [WEATHER]);
  script(
    service.model,
    own,
    { tools: [weather("Oslo"), { name: "Glob", input: { pattern: "**/*" } }] },
    { text: "Done." },
  );
  const stream = await client.beta.sessions.events.stream(own.id);
  await send(own.id, say("go"));
  for await (const event of stream) {
    if (event.type === "agent.custom_tool_use") {
      await send(own.id, result(event.id, "rain"));
      break;
    }
  }
  expect(answers(await ended(client, own.id))).toEqual(["Done."]);
  expect(toldModel(service.model, own)[0]).toBe('"rain"');
});

test("of two clients the first result counts, a later one is refused and not kept", async () => {
  const own = await session(client, {}, [WEATHER]);
  script(service.model, own, { tools: [weather("Oslo")] }, { text: "Done." });
  const [id = ""] = (await untilPaused(client, own)).open;
  const both = await Promise.allSettled([
    client.beta.sessions.events.send(own.id, { events: [result(id, "rain")] }),
    second.beta.sessions.events.send(own.id, { events: [result(id, "sun")] }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await ended(client, own.id);
  const told = both[0].status === "fulfilled" ? "rain" : "sun";
  expect(toldModel(service.model, own)).toEqual([JSON.stringify(told)]);
  await expect(send(own.id, result(id, told))).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(new RegExp(`${id}.*already answered with a result`)),
  });
  const results = outline(await stored(client, own.id)).filter(
    (type) => type === "user.custom_tool_result",
  );
  expect(results).toHaveLength(1);
  await expect(send(own.id, confirm(id))).rejects.toMatchObject({
    message: expect.stringMatching(/user\.custom_tool_result/),
  });
});

test("input that is no JSON is answered here: the client is not asked", async () => {
  const own = await session(client, {}, [WEATHER]);
  script(
    service.model,
    own,
    { tools: [weather("Oslo")], fault: { type: "malformed_tool_json" } },
    { text: "Sorry." },
  );
  await send(own.id, say("go"));
  const all = await ended(client, own.id);
  expect(answers(all)).toEqual(["Sorry."]);
  expect(usesOf(all)).toEqual([]);
  expect(resultsOf(all)).toEqual([]);
  expect(outline(all)).toContain("session.error");
  expect(toldModel(service.model, own)[0]).toMatch(/not valid JSON/);
});

test("an interrupt while the client works: the call has a result, a late one is refused", async () => {
  const own = await session(client, {}, [WEATHER]);
  script(service.model, own, { tools: [weather("Oslo"), weather("Rome")] });
  const [oslo = "", rome = ""] = (await untilPaused(client, own)).open;
  await send(own.id, result(oslo, "rain"));
  await paused(client, own.id, 2);
  await send(own.id, { type: "user.interrupt" });
  const all = await ended(client, own.id);
  expect(resultsOf(all)).toEqual([
    { of: rome, failed: true, text: expect.stringMatching(/Interrupted.*not known/) },
  ]);
  await expect(send(own.id, result(rome, "sun"))).rejects.toMatchObject({ status: 400 });
  await send(own.id, say("go on"));
  await ended(client, own.id, 2);
  expect(toldModel(service.model, own)).toEqual(['"rain"', expect.stringMatching(/Interrupted/)]);
  expect(statusesOf(service.model, own).every((status) => status === 200)).toBe(true);
});

test("the SDK's own tool runner serves a tool, and leaves the agent's own alone", async () => {
  const own = await session(client, { permission_mode: "ask" }, [WEATHER]);
  script(
    service.model,
    own,
    {
      tools: [
        weather("Oslo"),
        { name: "Glob", input: { pattern: "*" } },
        write(own.at("a.md")),
        // It runs this one, if it is let: nobody has told the service of it.
        { name: "unknown_here", input: {} },
      ],
    },
    { tools: [weather("Rome")] },
    { text: "Rain in both." },
  );
  const asked: string[] = [];
  let strange = 0;
  const runner = client.beta.sessions.events.toolRunner(own.id, {
    tools: [
      betaTool({
        name: "get_weather",
        description: WEATHER.description,
        inputSchema: {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
        },
        run: ({ city }) => {
          asked.push(city);
          return "rain";
        },
      }),
      betaTool({
        name: "unknown_here",
        description: "d",
        inputSchema: { type: "object" },
        run: () => {
          strange += 1;
          return "strange";
        },
      }),
    ],
    maxIdleMs: 500,
  });
  const posted: string[] = [];
  const serving = (async () => {
    for await (const call of runner) if (call.posted) posted.push(call.name);
  })();
  await send(own.id, say("go"));
  const { open } = await paused(client, own.id);
  const change = usesOf(await stored(client, own.id)).find((use) => use.name === "Write");
  expect(open).toContain(idOf(change));
  await send(own.id, confirm(idOf(change)));
  const all = await ended(client, own.id);
  await serving;
  expect(answers(all)).toEqual(["Rain in both."]);
  expect(asked).toEqual(["Oslo", "Rome"]);
  expect(posted).toEqual(["get_weather", "get_weather"]);
  expect(strange).toBe(0);
});

test("the agent's toolset may stand beside them; its policy is the session's mode", async () => {
  const toolset = (type: "always_ask" | "always_allow") => ({
    type: "agent_toolset_20260401" as const,
    default_config: { enabled: true, permission_policy: { type } },
  });
  const ask = await session(client, {}, [toolset("always_ask"), WEATHER]);
  const made = await client.beta.sessions.retrieve(ask.id);
  // As a session shows it, it is taken.
  const again = await session(client, {}, made.agent.tools as never);
  for (const { id } of [ask, again]) {
    expect((await client.beta.sessions.retrieve(id)).agent.tools).toMatchObject([
      { default_config: { permission_policy: { type: "always_ask" } } },
      WEATHER,
    ]);
  }
  const contradiction = session(client, { permission_mode: "ask" }, [toolset("always_allow")]);
  await expect(contradiction).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/metadata\.permission_mode.*contradicts/),
  });
});
