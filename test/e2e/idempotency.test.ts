import { expect, test } from "vitest";
import { answers, newSession, say, sharedService, stored, until } from "./service.ts";

const service = await sharedService();
const client = await service.client();

const keyed = (key: string) => ({ headers: { "Idempotency-Key": key } });
const send = (id: string, text: string, key: string, by = client) =>
  by.beta.sessions.events.send(id, { events: [say(text)] }, keyed(key));

test("the same key sends a message once: at the same time, again, and after its turn", async () => {
  const id = await newSession(client);
  const [first, second] = await Promise.all([send(id, "deploy", "k1"), send(id, "deploy", "k1")]);
  expect(second).toEqual(first);
  await until("the turn ended", async () => answers(await stored(client, id)).length > 0);
  expect(await send(id, "deploy", "k1")).toEqual(first);
  const messages = (await stored(client, id)).filter((event) => event.type === "user.message");
  expect(messages).toHaveLength(1);
  expect(service.model.requests.filter((r) => r.headers["x-memdir-session"] === id)).toHaveLength(
    1,
  );
});

test("a key with another body is a conflict that is not to be retried, and stores nothing", async () => {
  const id = await newSession(client);
  await send(id, "deploy", "k2");
  const response = await fetch(`${service.url}/v1/sessions/${id}/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${await service.token()}`, "idempotency-key": "k2" },
    body: JSON.stringify({ events: [say("roll back")] }),
  });
  expect(response.status).toBe(409);
  expect(response.headers.get("x-should-retry")).toBe("false");
  const messages = (await stored(client, id)).filter((event) => event.type === "user.message");
  expect(messages).toHaveLength(1);
});

test("keys belong to one session and one user", async () => {
  const [a, b] = [await newSession(client), await newSession(client)];
  await send(a, "one", "k3");
  await send(b, "two", "k3");
  const bob = await service.client({ user: "bob" });
  const c = await newSession(bob);
  await send(c, "three", "k3", bob);
  for (const [id, by] of [
    [a, client],
    [b, client],
    [c, bob],
  ] as const) {
    const events = await stored(by, id);
    expect(events.filter((event) => event.type === "user.message")).toHaveLength(1);
  }
});

test("the same key creates one session, with its first events once", async () => {
  const own = await service.client({ user: "creator" });
  const create = () =>
    own.beta.sessions.create(
      { agent: "default", environment_id: "w", initial_events: [say("hi")] },
      keyed("c1"),
    );
  const [first, second] = await Promise.all([create(), create()]);
  const third = await create();
  expect(new Set([first.id, second.id, third.id]).size).toBe(1);
  expect((await own.beta.sessions.list()).data).toHaveLength(1);
  const events = await stored(own, first.id);
  expect(events.filter((event) => event.type === "user.message")).toHaveLength(1);

  const other = own.beta.sessions.create({ agent: "default", environment_id: "v" }, keyed("c1"));
  await expect(other).rejects.toMatchObject({ status: 409 });
  await own.beta.sessions.delete(first.id);
  await expect(create()).rejects.toMatchObject({ status: 409 });
  expect((await own.beta.sessions.list()).data).toHaveLength(0);
});
