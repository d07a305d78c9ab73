// TRUTH-04, TRUTH-05: what a session's creation fixes takes the documented values and no others.

import { expect, test } from "vitest";
import { NO_BACKGROUND, newSession, sentMessages, serviceOfFile, turn } from "./service.ts";

const service = await serviceOfFile(NO_BACKGROUND);
const client = await service.client();

async function create(metadata: Record<string, unknown>, as = {}) {
  const response = await fetch(`${service.url}/v1/sessions`, {
    method: "POST",
    headers: { authorization: `Bearer ${await service.token(as)}` },
    body: JSON.stringify({ agent: "default", environment_id: "w", metadata }),
  });
  const body = (await response.json()) as {
    id: string;
    auto_memory?: { enabled: boolean };
    error?: { message: string };
  };
  return { ...body, status: response.status };
}

test.each([
  ...["True", "TRUE", "yes", "1", " true", "false ", "on", "0", ""].map((bare) => [
    { bare },
    /^metadata\.bare: is neither "true" nor "false"/,
  ]),
  [{ bare: true }, /^metadata\.bare: /],
  [{ Bare: "true" }, /^metadata\.Bare: is no field of ours; write bare/],
  [
    { permission_mode: "READ_ONLY" },
    /^metadata\.permission_mode: is none of "accept_edits", "ask", "read_only"/,
  ],
  [{ permission_mode: "read-only" }, /^metadata\.permission_mode: is none of/],
  [
    { permissionMode: "read_only" },
    /^metadata\.permissionMode: is no field of ours; write permission_mode/,
  ],
  [{ mid_turn_messages: "Join" }, /^metadata\.mid_turn_messages: is neither "queue" nor "join"/],
  [{ "mid-turn-messages": "join" }, /^metadata\.mid-turn-messages: .*write mid_turn_messages/],
  [
    { time_zone: "Mars/Base" },
    /^metadata\.time_zone: is no time zone: "Mars\/Base"\. Use an IANA name, such as "Europe\/Berlin" or "UTC"/,
  ],
  [{ time_zone: "+01:00" }, /^metadata\.time_zone: is no time zone: "\+01:00"/],
  [{ time_zone: `X${"y".repeat(500)}` }, /^metadata\.time_zone: is no time zone: "Xy{59}"/],
] as [Record<string, unknown>, RegExp][])("%j is refused by its name", async (metadata, says) => {
  const { status, error } = await create(metadata);
  expect([status, error?.message]).toEqual([400, expect.stringMatching(says)]);
});

test("what is documented works, and other metadata is the client's own", async () => {
  expect(await create({ bare: "true" })).toMatchObject({ auto_memory: { enabled: false } });
  expect(
    await create({
      bare: "false",
      permission_mode: "ask",
      mid_turn_messages: "queue",
      barely: "1",
    }),
  ).toMatchObject({ status: 200, auto_memory: { enabled: true } });
});

test("a session has the zone of its metadata, else of its user's settings, bare or not", async () => {
  const as = { user: "zoe" };
  const put = await fetch(`${service.url}/v1/settings/user`, {
    method: "PUT",
    headers: { authorization: `Bearer ${await service.token(as)}` },
    body: JSON.stringify({ time_zone: "Pacific/Auckland" }),
  });
  expect(put.status).toBe(200);
  const zoe = await service.client(as);
  const zones = await Promise.all(
    [{}, { bare: "true" }, { time_zone: "Asia/Tokyo" }].map(async (metadata) => {
      const { id } = await create(metadata, as);
      await turn(zoe, id, "hello to you");
      const text = JSON.stringify(sentMessages(service.model, id)[0]);
      return /Today is \w+day, \d{4}-\d\d-\d\d \(time zone ([\w/]+)\)\./.exec(text)?.[1];
    }),
  );
  expect(zones).toEqual(["Pacific/Auckland", "Pacific/Auckland", "Asia/Tokyo"]);
  const id = await newSession(client);
  await turn(client, id, "hello to you");
  expect(JSON.stringify(sentMessages(service.model, id)[0])).toContain("(time zone UTC)");
});
