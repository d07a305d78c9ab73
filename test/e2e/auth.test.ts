import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { NOTES_TEMPLATE } from "../../src/shared/session-memory/template.ts";
import { newSession, say, sharedService, turn } from "./service.ts";

const service = await sharedService();

const ROUTES: [string, string][] = [
  ["GET", "/v1/sessions"],
  ["POST", "/v1/sessions"],
  ["GET", "/v1/sessions/ID"],
  ["DELETE", "/v1/sessions/ID"],
  ["POST", "/v1/sessions/ID/events"],
  ["GET", "/v1/sessions/ID/events"],
  ["GET", "/v1/sessions/ID/events/stream"],
  ["GET", "/v1/sessions/ID/events/stream?after=0"],
  ["POST", "/v1/sessions/ID/archive"],
  ["POST", "/v1/sessions/ID/compact"],
  ["GET", "/v1/sessions/ID/recalls"],
  ["GET", "/v1/sessions/ID/extractions"],
  ["GET", "/v1/sessions/ID/notes"],
  ["PUT", "/v1/sessions/ID/notes"],
  ["GET", "/v1/workspaces/w/files"],
  ["GET", "/v1/workspaces/w/files/a.md"],
  ["PUT", "/v1/workspaces/w/files/a.md"],
  ["DELETE", "/v1/workspaces/w/files/a.md"],
  ["GET", "/v1/settings/user"],
  ["GET", "/v1/settings/managed"],
  ["GET", "/v1/usage"],
  ["GET", "/v1/usage?session_id=ID"],
  ["GET", "/v1/anything"],
];

test("only /health answers without a token", async () => {
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  for (const [method, path] of ROUTES) {
    const response = await fetch(service.url + path, { method });
    expect([method, path, response.status]).toEqual([method, path, 401]);
    expect(await response.json()).toMatchObject({ error: { type: "authentication_error" } });
  }
});

test("a token that is forged, expired, endless or without a name is none", async () => {
  const key = new TextEncoder().encode("x".repeat(40));
  const good = await service.token();
  const [head, body] = good.split(".");
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${body}.`;
  const wrong = [
    "",
    "nonsense",
    unsigned,
    `${head}.${body}.AAAA`,
    await new SignJWT({ org: "acme" })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject("ann")
      .setExpirationTime("1h")
      .sign(key),
  ];
  for (const token of wrong) {
    const response = await fetch(`${service.url}/v1/sessions`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(401);
  }
  const asKey = await fetch(`${service.url}/v1/sessions`, { headers: { "x-api-key": good } });
  expect(asKey.status).toBe(200);
});

test("another user's and another tenant's session is a 404 like one that does not exist", async () => {
  const ann = await service.client();
  const id = await newSession(ann);
  await ann.beta.sessions.events.send(id, { events: [say("a secret")] });
  await turn(ann, id, "and a question");
  await expect
    .poll(() => ann.get(`/v1/usage?session_id=${id}`), { timeout: 20_000 })
    .not.toMatchObject({ data: [] });
  const [cursor] = (await ann.beta.sessions.events.list(id)).data;
  const missing = `sesn_${"2".repeat(24)}`;
  const others = [
    { user: "bob" },
    { org: "other" },
    { org: service.org, user: 'ann"]' },
    { org: `${service.org}","ann`, user: "x" },
    { user: "bob", role: "admin" as const },
  ];
  for (const claims of others) {
    const authorization = `Bearer ${await service.token(claims)}`;
    for (const [method, path] of ROUTES.filter(([, path]) => path.includes("ID"))) {
      const answers = [];
      for (const session of [id, missing]) {
        const response = await fetch(service.url + path.replace("ID", session), {
          method,
          headers: { authorization, "last-event-id": cursor?.id ?? "" },
          ...(path.endsWith("/events") && method === "POST"
            ? { body: JSON.stringify({ events: [say("hi")] }) }
            : {}),
          ...(method === "PUT" ? { body: JSON.stringify({ notes: NOTES_TEMPLATE }) } : {}),
        });
        const { request_id, ...body } = (await response.json()) as Record<string, unknown>;
        expect(request_id).toMatch(/^req_/);
        answers.push({ status: response.status, body });
      }
      expect(answers[0]?.status).toBe(404);
      expect(answers[0]).toEqual(answers[1]);
    }
    const list = await fetch(`${service.url}/v1/sessions`, { headers: { authorization } });
    expect(await list.json()).toMatchObject({ data: [] });
  }
  expect((await ann.beta.sessions.retrieve(id)).id).toBe(id);
});
