// The whole process group is killed while turns stand still. After the restart they still do, until
// the same moment as before; each answer has its one effect.

import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { processOfFile } from "./process-fixture.ts";
import { answers, say, stored, until } from "./service.ts";
import type { Waiting } from "./waiting-fixture.ts";
import {
  confirm,
  ended,
  fileOf,
  outline,
  result,
  resultsOf,
  script,
  session,
  statusesOf,
  toldModel,
  untilPaused,
  WEATHER,
  weather,
  write,
} from "./waiting-fixture.ts";

/** Long enough for a restart. */
const LIMIT_MS = 25_000;

const { model, running, kill, start, connect } = processOfFile({
  EXTRACTION_EVERY_TURNS: "0",
  APPROVAL_TIMEOUT_MS: String(LIMIT_MS),
  CUSTOM_TOOL_TIMEOUT_MS: String(LIMIT_MS),
});

test("a kill while turns wait: they still wait, as long as before, and are answered once", {
  timeout: 120_000,
}, async () => {
  let client = connect();
  const make = async (): Promise<Waiting> => {
    const made = await session(client, { permission_mode: "ask", mid_turn_messages: "join" }, [
      WEATHER,
    ]);
    script(model, made, { tools: [weather("Oslo"), write(made.at("a.md"))] }, { text: "Done." });
    return made;
  };
  const [all, part, never, stopped] = [await make(), await make(), await make(), await make()];
  const opened = await Promise.all(
    [all, part, never, stopped].map(async (one) => (await untilPaused(client, one)).open),
  );
  const [ofAll = [], ofPart = [], ofNever = []] = opened;
  const begun = Date.now();
  // One of these has half of its answers, and a message that waits, when everything dies.
  await send(client, part, confirm(ofPart[1] ?? ""), say("also tea"));
  const before = await Promise.all([all, never].map(({ id }) => stored(client, id)));

  await kill();
  await start();
  client = connect();

  expect(await Promise.all([all, never].map(({ id }) => stored(client, id)))).toEqual(before);
  for (const { id } of [all, part, never]) {
    expect((await client.beta.sessions.retrieve(id)).status).toBe("idle");
  }

  await send(client, all, confirm(ofAll[1] ?? "", "deny"), result(ofAll[0] ?? "", "rain"));
  expect(answers(await ended(client, all.id))).toEqual(["Done."]);
  expect(toldModel(model, all)).toEqual(['"rain"', expect.stringMatching(/denied/)]);
  expect(await file(all)).toBeUndefined();

  await expect(send(client, part, confirm(ofPart[1] ?? ""))).rejects.toMatchObject({ status: 400 });
  await send(client, part, result(ofPart[0] ?? "", "sun"));
  const parts = await ended(client, part.id);
  expect(answers(parts)).toEqual(["Done."]);
  expect(outline(parts).filter((type) => type === "turn.joined")).toHaveLength(1);
  expect(outline(parts).filter((type) => type === "agent.tool_result")).toHaveLength(1);
  expect(await file(part)).toBe("new");

  await send(client, stopped, { type: "user.interrupt" });
  expect(resultsOf(await ended(client, stopped.id)).map(({ failed }) => failed)).toEqual([
    true,
    true,
  ]);

  // Nobody asks for this one: its alarm finds it, not later than if nothing had happened.
  await until("the model is asked again", () => statusesOf(model, never).length === 2, LIMIT_MS);
  const waited = Date.now() - begun;
  expect(waited).toBeLessThan(LIMIT_MS + 5000);
  const late = await ended(client, never.id);
  expect(resultsOf(late).map(({ of }) => of)).toEqual(ofNever);
  const told = late.find((event) => event.type === "agent.tool_result");
  const asked = late.find((event) => event.type === "agent.tool_use");
  const at = (event: unknown) => Date.parse(String(Reflect.get(Object(event), "processed_at")));
  expect(at(told) - at(asked)).toBeGreaterThanOrEqual(LIMIT_MS);
  for (const one of [all, part, never, stopped]) {
    expect(statusesOf(model, one).every((status) => status === 200)).toBe(true);
  }
});

function send(
  client: Anthropic,
  { id }: Waiting,
  ...events: Parameters<typeof client.beta.sessions.events.send>[1]["events"]
) {
  return client.beta.sessions.events.send(id, { events });
}

function file(one: Waiting) {
  return fileOf(running(), running().token(), one, "a.md");
}
