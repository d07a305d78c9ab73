import { expect, test } from "vitest";

import { answers, idOf, say, sharedService, stored } from "./service.ts";
import {
  confirm,
  ended,
  fileOf,
  outline,
  paused,
  resultsOf,
  script,
  sender,
  session,
  statusesOf,
  toldModel,
  untilPaused,
  usesOf,
  write,
} from "./waiting-fixture.ts";

const service = await sharedService();
const client = await service.client();
const second = await service.client();
const token = await service.token();
const file = (of: Parameters<typeof fileOf>[2], name: string) => fileOf(service, token, of, name);
const send = sender(client);

test("a change waits for the user: nothing is written before, and allowed it is done", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(service.model, ask, { tools: [write(ask.at("a.md"))] }, { text: "Done." });
  const { events, open } = await untilPaused(client, ask);
  const [use] = usesOf(events);
  expect(use).toMatchObject({
    type: "agent.tool_use",
    name: "Write",
    evaluated_permission: "ask",
    expires_at: expect.stringMatching(/^20/),
  });
  expect(open).toEqual([use?.id]);
  expect(await client.beta.sessions.retrieve(ask.id)).toMatchObject({
    status: "idle",
    agent: { tools: [{ default_config: { permission_policy: { type: "always_ask" } } }] },
  });
  expect(await file(ask, "a.md")).toBeUndefined();

  await send(ask.id, confirm(use?.id ?? ""));
  const all = await ended(client, ask.id);
  expect(outline(all)).toEqual([
    "user.message",
    "session.status_running",
    "agent.tool_use",
    "session.status_idle",
    "user.tool_confirmation",
    "session.status_running",
    "agent.tool_result",
    "agent.message",
    "session.status_idle",
  ]);
  expect(resultsOf(all)).toMatchObject([{ of: use?.id, failed: false }]);
  expect(await file(ask, "a.md")).toBe("new");
  expect(await client.beta.sessions.retrieve(ask.id)).toMatchObject({ status: "idle" });
});

test("denied, nothing is written and the model is told why; the turn goes on", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(service.model, ask, { tools: [write(ask.at("a.md"))] }, { text: "I leave it." });
  const { open } = await untilPaused(client, ask);
  await send(ask.id, confirm(open[0] ?? "", "deny", "not in this folder"));
  const all = await ended(client, ask.id);
  expect(answers(all)).toEqual(["I leave it."]);
  expect(resultsOf(all)).toEqual([
    { of: open[0], failed: true, text: expect.stringMatching(/denied.*not in this folder/) },
  ]);
  expect(toldModel(service.model, ask).join()).toMatch(/denied.*not in this folder/);
  expect(await file(ask, "a.md")).toBeUndefined();
});

test("reading and the own memory never ask; what only looks like memory does", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  const memory = `---\nname: Tea\ndescription: Likes tea\ntype: user\n---\nTea.\n`;
  script(
    service.model,
    ask,
    {
      tools: [
        write(`${ask.memory}/tea.md`, memory),
        { name: "Glob", input: { pattern: "**/*.md" } },
        write(`${ask.memory}/../${ask.workspace}/evil.md`),
        write(`${ask.memory}-evil/a.md`),
      ],
    },
    { text: "Done." },
  );
  const { events, open } = await untilPaused(client, ask);
  const uses = usesOf(events).map((use) => [use.id, Reflect.get(use, "evaluated_permission")]);
  expect(uses.map(([, permission]) => permission)).toEqual(["allow", "allow", "ask", "ask"]);
  expect(open).toEqual(uses.slice(2).map(([id]) => id));
  expect(resultsOf(events).map(({ failed }) => failed)).toEqual([false, false]);
  expect(events.some((event) => String(event.type) === "memory.saved")).toBe(true);
  await send(ask.id, ...open.map((id) => confirm(id)));
  const all = await ended(client, ask.id);
  // Allowed, they are still refused: the sandbox holds them to the same rule.
  expect(resultsOf(all).map(({ failed }) => failed)).toEqual([false, false, true, true]);
});

test("fewer answers than calls: it stands still for the rest, and the order of changes is kept", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(
    service.model,
    ask,
    {
      tools: [
        write(ask.at("a.md"), "one"),
        {
          name: "Edit",
          input: { file_path: ask.at("a.md"), old_string: "one", new_string: "two" },
        },
        write(ask.at("b.md")),
      ],
    },
    { text: "Done." },
  );
  const { open } = await untilPaused(client, ask);
  const [first = "", edit = "", third = ""] = open;
  await send(ask.id, confirm(edit));
  expect((await paused(client, ask.id, 2)).open).toEqual([first, third]);
  await send(ask.id, confirm(third, "deny"));
  expect((await paused(client, ask.id, 3)).open).toEqual([first]);
  expect(await file(ask, "a.md")).toBeUndefined();
  await send(ask.id, confirm(first));
  const all = await ended(client, ask.id);
  expect(resultsOf(all).map(({ of, failed }) => [of, failed])).toEqual([
    [first, false],
    [edit, false],
    [third, true],
  ]);
  expect(await file(ask, "a.md")).toBe("two");
  expect(await file(ask, "b.md")).toBeUndefined();
});

test("of two clients the first answer counts; the other is told so, and nothing of it is kept", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(service.model, ask, { tools: [write(ask.at("a.md"))] }, { text: "Done." });
  const { open } = await untilPaused(client, ask);
  const [id = ""] = open;
  const both = await Promise.allSettled([
    client.beta.sessions.events.send(ask.id, { events: [confirm(id)] }),
    second.beta.sessions.events.send(ask.id, { events: [confirm(id, "deny", "no")] }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const allowed = both[0].status === "fulfilled";
  await ended(client, ask.id);
  // Late, the same and another one.
  for (const late of [confirm(id), confirm(id, "deny")]) {
    await expect(send(ask.id, say("with it"), late)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(new RegExp(`${id}.*was already answered`)),
    });
  }
  const all = await stored(client, ask.id);
  expect(outline(all).filter((type) => type === "user.tool_confirmation")).toHaveLength(1);
  expect(outline(all).filter((type) => type === "user.message")).toHaveLength(1);
  expect(resultsOf(all)).toHaveLength(1);
  expect(await file(ask, "a.md")).toBe(allowed ? "new" : undefined);
});

test("twice in one request is refused whole; with a key a repeated answer is replayed", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(service.model, ask, { tools: [write(ask.at("a.md"))] }, { text: "Done." });
  const [id = ""] = (await untilPaused(client, ask)).open;
  await expect(send(ask.id, confirm(id), confirm(id))).rejects.toMatchObject({ status: 400 });
  expect(outline(await stored(client, ask.id))).not.toContain("user.tool_confirmation");
  const keyed = () =>
    client.beta.sessions.events.send(
      ask.id,
      { events: [confirm(id)] },
      { headers: { "Idempotency-Key": "k1" } },
    );
  const replies = [await keyed(), await keyed()];
  await ended(client, ask.id);
  replies.push(await keyed());
  expect(replies[1]).toEqual(replies[0]);
  expect(replies[2]).toEqual(replies[0]);
  expect(resultsOf(await stored(client, ask.id))).toHaveLength(1);
});

test("an answer to nothing, or of the wrong kind, is refused by its id", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(service.model, ask, {
    tools: [{ name: "Glob", input: { pattern: "*.md" } }, write(ask.at("a.md"))],
  });
  const { events, open } = await untilPaused(client, ask);
  const [glob, use] = usesOf(events).map(idOf);
  for (const id of ["sevt_nothing", glob ?? "", idOf(events[0])]) {
    await expect(send(ask.id, confirm(id))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(id),
    });
  }
  const wrong = { type: "user.custom_tool_result" as const, custom_tool_use_id: use ?? "" };
  await expect(send(ask.id, wrong)).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/user\.tool_confirmation/),
  });
  expect(open).toEqual([use]);
  expect(outline(await stored(client, ask.id))).toEqual(outline(events));
});

test("an interrupt ends the turn that waits; its calls have results and the next request is valid", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(service.model, ask, {
    tools: [write(ask.at("a.md")), write(ask.at("b.md"))],
  });
  const { open } = await untilPaused(client, ask);
  await send(ask.id, confirm(open[0] ?? ""));
  await paused(client, ask.id, 2);
  // In one request: the interrupt has ended the wait, so the whole is refused, and it still waits.
  await expect(
    send(ask.id, { type: "user.interrupt" }, confirm(open[1] ?? "")),
  ).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/^400.*interrupt/) });
  await send(ask.id, { type: "user.interrupt" });
  const all = await ended(client, ask.id);
  expect(outline(all).slice(-5)).toEqual([
    "user.interrupt",
    "session.status_running",
    "agent.tool_result",
    "agent.tool_result",
    "session.status_idle",
  ]);
  for (const { text } of resultsOf(all)) expect(text).toMatch(/Interrupted by the user/);
  const last = all.at(-1);
  expect(last?.type === "session.status_idle" && last.stop_reason.type).toBe("end_turn");
  await expect(send(ask.id, confirm(open[1] ?? ""))).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/interrupt/),
  });
  await send(ask.id, say("and now"));
  const next = await ended(client, ask.id, 2);
  expect(answers(next).at(-1)).toContain("and now");
  expect(statusesOf(service.model, ask).every((status) => status === 200)).toBe(true);
  expect(await file(ask, "a.md")).toBeUndefined();
});

test("messages that come while a turn waits are answered after it", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(service.model, ask, { tools: [write(ask.at("a.md"))] }, { text: "Done." });
  const { open } = await untilPaused(client, ask);
  await send(ask.id, say("and tea"));
  await send(ask.id, confirm(open[0] ?? ""));
  expect(answers(await ended(client, ask.id))).toEqual(["Done.", expect.stringContaining("tea")]);
});

test("archiving a session whose turn waits ends the turn", async () => {
  const ask = await session(client, { permission_mode: "ask" });
  script(service.model, ask, { tools: [write(ask.at("a.md"))] });
  await untilPaused(client, ask);
  await client.beta.sessions.archive(ask.id);
  const all = await ended(client, ask.id);
  expect(resultsOf(all)).toMatchObject([{ failed: true }]);
  expect(await file(ask, "a.md")).toBeUndefined();
});
