import { expect, test } from "vitest";
import { extracted } from "./memory-fixture.ts";
import { say, serviceOfFile, stored } from "./service.ts";
import { ended, outline, script, session, WEATHER, weather } from "./waiting-fixture.ts";

const service = await serviceOfFile();
const client = await service.client();

test("a fork is told of the client's tools as its parent is, and one that calls them is refused", async () => {
  const own = await session(client, { permission_mode: "ask" }, [WEATHER]);
  script(service.model, own, { text: "Noted." });
  const match = { session: own.id, purpose: "extraction" };
  service.model.enqueue({ tools: [weather("Oslo")], match });
  service.model.enqueue({ text: "Nothing to save.", match });
  await client.beta.sessions.events.send(own.id, { events: [say("I like long walks by the sea")] });
  await ended(client, own.id);
  await extracted(client, own.id);

  const of = (purpose: string) =>
    service.model.requests.filter((one) => one.session === own.id && one.purpose === purpose);
  const lists = [...of("main"), ...of("extraction")].map((one) =>
    JSON.stringify(Reflect.get(Object(one.body), "tools")),
  );
  expect(of("extraction")).toHaveLength(2);
  expect(new Set(lists).size).toBe(1);
  expect(lists[0]).toContain("get_weather");
  expect(JSON.stringify(of("extraction").at(-1)?.body)).toMatch(/Refused: get_weather needs/);
  const types = outline(await stored(client, own.id));
  expect(types).not.toContain("agent.custom_tool_use");
  expect((await client.beta.sessions.retrieve(own.id)).status).toBe("idle");
});
