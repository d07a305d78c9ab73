// A writer that can know of nothing after a certain change: what others did after it stays as it is.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Actor, MemdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { newStoreMeta } from "./meta-fixture.ts";

const ann: Actor = { type: "user", userId: "ann" };
const fork: Actor = { type: "session", sessionId: "s1", by: "extraction" };
const agent: Actor = { type: "session", sessionId: "s1", by: "agent" };
const another: Actor = { type: "session", sessionId: "s2", by: "extraction" };
const LINE = "- [Vault](vault.md) - it is in Oslo";

test.each<[string, Actor]>([
  ["a person", ann],
  ["the session's own agent", agent],
  ["another session's run", another],
])(
  "TRUTH-01: what %s deletes after the start is not made again, nor is its line",
  async (_who, actor) => {
    const { stub, write, since } = await directory();
    await write("vault.md", "Oslo", ann);
    await write("MEMORY.md", `${LINE}\n`, ann);
    const start = await since();
    unwrap(await stub.remove({ path: "vault.md", actor }));
    unwrap(await stub.reconcile(actor));
    expect(await write("vault.md", "Oslo", fork, start)).toMatchObject(DELETED);
    expect(await write("MEMORY.md", `${LINE}\n`, fork, start)).toMatchObject(DELETED);
    expect(unwrap(await stub.head("vault.md"))).toBeNull();
    // Others are not held to it, nor is a run that began later.
    expect(await write("vault.md", "Bergen", fork, await since())).toMatchObject(WRITTEN);
  },
);

test("its own writes do not count, and a deletion of what it wrote itself does", async () => {
  const { stub, write, since } = await directory();
  const start = await since();
  expect(await write("vault.md", "Oslo", fork, start)).toMatchObject(WRITTEN);
  expect(await write("vault.md", "Oslo, 2nd floor", fork, start)).toMatchObject(WRITTEN);
  expect(await write("MEMORY.md", `${LINE}\n`, fork, start)).toMatchObject(WRITTEN);
  unwrap(await stub.remove({ path: "vault.md", actor: ann }));
  expect(await write("vault.md", "Oslo", fork, start)).toMatchObject(DELETED);
  unwrap(await stub.reconcile(ann));
  expect(await write("MEMORY.md", `${LINE}\n`, fork, start)).toMatchObject(DELETED);
  const line = "- [Tea](tea.md) - Ann likes it\n";
  expect(await write("tea.md", "tea", fork, start)).toMatchObject(WRITTEN);
  expect(await write("MEMORY.md", line, fork, start)).toMatchObject(WRITTEN);
});

test("TRUTH-02: what others changed is not written over, under its old or its new name", async () => {
  const { stub, write, since } = await directory();
  await write("release.md", "none", ann);
  await write("owner.md", "Bob", ann);
  const start = await since();
  await write("release.md", "Tuesday", agent);
  const owner = unwrap(await stub.head("owner.md"));
  unwrap(await stub.update({ id: owner?.id ?? "", path: "lead.md", actor: ann }));
  expect(await write("release.md", "Friday", fork, start)).toMatchObject({
    status: "refused",
    reason: "changed_since",
    message: expect.stringContaining("release.md: it was changed by somebody else after"),
  });
  expect(await write("owner.md", "Eve", fork, start)).toMatchObject(DELETED);
  expect(await write("lead.md", "Eve", fork, start)).toMatchObject({ reason: "changed_since" });
  const index = "- [Release](release.md) - on Friday\n";
  expect(await write("MEMORY.md", index, fork, start)).toMatchObject({ reason: "changed_since" });
});

test("what was deleted after the message that a run looks at is not made again, however late it starts", async () => {
  const { stub, write, since } = await directory();
  await write("vault.md", "Oslo", ann);
  await write("door.md", "red", ann);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const said = Date.now();
  unwrap(await stub.remove({ path: "vault.md", actor: ann }));
  await write("door.md", "blue", ann);
  const start = await since();
  const late = async (path: string, from: number, ownFrom = from) =>
    unwrap(
      await stub.write({
        path,
        bytes: new Uint8Array([97]),
        actor: fork,
        since: start,
        gone: { from, ownFrom },
      }),
    );
  expect(await late("vault.md", said)).toMatchObject(DELETED);
  // A change is there to be read.
  expect(await late("door.md", said)).toMatchObject(WRITTEN);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await late("vault.md", said, Date.now())).toMatchObject(DELETED);
  expect(await late("vault.md", Date.now())).toMatchObject(WRITTEN);
  // Its own agent may have deleted for an earlier message.
  unwrap(await stub.remove({ path: "door.md", actor: agent }));
  const later = await since();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const own = { bytes: new Uint8Array([98]), actor: fork, since: later, path: "door.md" };
  const now = Date.now();
  expect(unwrap(await stub.write({ ...own, gone: { from: said, ownFrom: said } }))).toMatchObject(
    DELETED,
  );
  expect(unwrap(await stub.write({ ...own, gone: { from: said, ownFrom: now } }))).toMatchObject(
    WRITTEN,
  );
});

test("a rewind, what came past the object, and a deletion that was redacted count as well", async () => {
  const { stub, write, since, meta } = await directory();
  await write("kept.md", "one", ann);
  const back = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await write("late.md", "late", ann);
  const start = await since();
  unwrap(await stub.rewind({ time: back }, { actor: ann }));
  expect(await write("late.md", "late", fork, start)).toMatchObject(DELETED);

  await env.FILES.put(`${meta.prefix}kept.md`, "by a mount");
  unwrap(await stub.importChanges());
  expect(await write("kept.md", "two", fork, start)).toMatchObject({ reason: "changed_since" });

  const later = await since();
  await write("secret.md", "secret", ann);
  unwrap(await stub.remove({ path: "secret.md", actor: ann }));
  for (const { id } of unwrap(await stub.versions({ limit: 2, withContent: false }))) {
    unwrap(await stub.redact(id, ann));
  }
  expect(await write("secret.md", "secret", fork, later)).toMatchObject(DELETED);
});

test("TRUTH-11: a new file that says what it replaces is that memory, with its history", async () => {
  const { stub, write } = await directory();
  const old = file("Airflow to Dagster");
  await write("dagster.md", old, ann);
  await write("MEMORY.md", "- [Airflow to Dagster](dagster.md) - said\n", ann);
  const before = unwrap(await stub.head("dagster.md"));
  const renamed = file("Airflow to Prefect", "dagster.md");
  expect(await write("prefect.md", renamed, fork, undefined, true)).toMatchObject({
    status: "written",
    receipt: { memoryId: before?.id, operation: "modified" },
    warning: expect.stringContaining("dagster.md"),
  });
  unwrap(await stub.reconcile(fork));
  expect(unwrap(await stub.head("dagster.md"))).toBeNull();
  expect(await stub.read("prefect.md").then(unwrap).then(textOf)).toBe(renamed);
  expect(await stub.read("MEMORY.md").then(unwrap).then(textOf)).toBe(
    "- [Airflow to Prefect](prefect.md) - said\n",
  );
  const query = { memoryId: before?.id ?? "", limit: 9, withContent: false };
  expect(unwrap(await stub.versions(query))).toHaveLength(2);
  // The line stays in the file, and does nothing more.
  expect(await write("prefect.md", `${renamed}More.\n`, agent)).toMatchObject(WRITTEN);
});

test("what it replaces must be there and unchanged; a file that others bring is only stored", async () => {
  const { stub, write, since } = await directory();
  expect(await write("b.md", file("b", "a.md"), agent)).toMatchObject({
    reason: "path",
    message: expect.stringContaining('"a.md"'),
  });
  await write("a.md", file("a"), ann);
  const start = await since();
  await write("a.md", file("a2"), ann);
  expect(await write("b.md", file("b", "a.md"), fork, start)).toMatchObject({
    reason: "changed_since",
  });
  expect(await write("b.md", file("b", "a.md"), ann)).toMatchObject({
    receipt: { operation: "created" },
  });
  expect(unwrap(await stub.head("a.md"))).not.toBeNull();
});

const WRITTEN = { status: "written" };
const DELETED = {
  status: "refused",
  reason: "changed_since",
  message: expect.stringContaining("deleted or moved by somebody else after"),
};

function file(name: string, replaces?: string): string {
  const line = replaces === undefined ? "" : `replaces: ${replaces}\n`;
  return `---\nname: ${name}\ndescription: said\ntype: project\n${line}---\n\n${name}.\n`;
}

function textOf(read: { bytes: Uint8Array } | null): string {
  return new TextDecoder().decode(read?.bytes);
}

async function directory() {
  const meta = newStoreMeta();
  const stub: MemdirStub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
  const write = async (path: string, text: string, actor: Actor, since?: number, absent = false) =>
    unwrap(
      await stub.write({
        path,
        bytes: new TextEncoder().encode(text),
        actor,
        since,
        condition: absent ? { ifAbsent: true } : undefined,
      }),
    );
  /** As a run learns it. */
  const since = async () => {
    const reply = unwrap(await stub.acquire("extraction", "s1", 1_000));
    if (reply.status !== "granted") throw new Error(reply.status);
    await stub.release("extraction", reply.token);
    return reply.at;
  };
  return { meta, stub, write, since };
}
