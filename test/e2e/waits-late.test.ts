// Calls that nobody answers in time: the turn goes on by itself, and who is too late is told.

import { expect, test } from "vitest";
import { answers, NO_BACKGROUND, serviceOfFile, stored } from "./service.ts";
import {
  confirm,
  ended,
  fileOf,
  outline,
  paused,
  result,
  resultsOf,
  script,
  session,
  toldModel,
  untilPaused,
  usesOf,
  WEATHER,
  weather,
  write,
} from "./waiting-fixture.ts";

const service = await serviceOfFile({
  ...NO_BACKGROUND,
  APPROVAL_TIMEOUT_MS: "4000",
  CUSTOM_TOOL_TIMEOUT_MS: "2000",
});
const client = await service.client();
const at = (event: unknown) => Date.parse(String(Reflect.get(Object(event), "processed_at")));

test("nobody answers: the change is not made, the turn goes on, a late answer is refused", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(service.model, ask, { tools: [write(ask.at("a.md"))] }, { text: "I leave it." });
  const { open } = await untilPaused(client, ask);
  const [id = ""] = open;
  const all = await ended(client, ask.id);
  expect(answers(all)).toEqual(["I leave it."]);
  expect(resultsOf(all)).toEqual([
    { of: id, failed: true, text: expect.stringMatching(/Nobody answered within 4 seconds/) },
  ]);
  expect(outline(all)).toEqual([
    "user.message",
    "session.status_running",
    "agent.tool_use",
    "session.status_idle",
    "session.status_running",
    "agent.tool_result",
    "agent.message",
    "session.status_idle",
  ]);
  const use = usesOf(all)[0];
  const told = all.find((event) => event.type === "agent.tool_result");
  expect(at(told) - at(use)).toBeGreaterThanOrEqual(4000);
  expect(Date.parse(String(Reflect.get(Object(use), "expires_at"))) - at(use)).toBe(4000);
  await expect(
    client.beta.sessions.events.send(ask.id, { events: [confirm(id)] }),
  ).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(new RegExp(`${id}.*time limit`)),
  });
  expect(await stored(client, ask.id)).toEqual(all);
  expect(await fileOf(service, await service.token(), ask, "a.md")).toBeUndefined();
});

test("one of two is late: the client is told at once, and the other is still waited for", async () => {
  const own = await session(client, { permission_mode: "ask" }, [WEATHER]);
  script(
    service.model,
    own,
    { tools: [weather("Oslo"), write(own.at("a.md"))] },
    { text: "Done." },
  );
  const { open } = await untilPaused(client, own);
  const [call = "", change = ""] = open;
  const then = await paused(client, own.id, 2);
  expect(then.open).toEqual([change]);
  expect(resultsOf(then.events)).toEqual([
    { of: call, failed: true, text: expect.stringMatching(/no result .* within 2 seconds/) },
  ]);
  await expect(
    client.beta.sessions.events.send(own.id, { events: [confirm(change), result(call, "late")] }),
  ).rejects.toMatchObject({ status: 400 });
  await client.beta.sessions.events.send(own.id, { events: [confirm(change)] });
  await ended(client, own.id);
  expect(toldModel(service.model, own)).toEqual([
    expect.stringMatching(/within 2 seconds/),
    expect.stringMatching(/Created/),
  ]);
});
