// A change comes back with its receipt, also after a crash that took the answer: whoever asks again
// gets the receipt of its own work, and of nobody else's.

import { env } from "cloudflare:test";
import { beforeEach, describe, expect, test } from "vitest";
import { createMemdirFiles } from "../../../src/platform/objects/memdir-files.ts";
import type { Actor, MemdirStub, Version } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { createMounts } from "../../../src/shared/files/mounts.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import type { ToolResult, WriteTool } from "../../../src/shared/loop/tool.ts";
import { createDeleteTool } from "../../../src/shared/tools/delete.ts";
import { createEditTool } from "../../../src/shared/tools/edit.ts";
import { createWriteTool } from "../../../src/shared/tools/write.ts";
import { newStoreMeta } from "./meta-fixture.ts";

const agent = { type: "session", sessionId: "s1", by: "agent" } as const;
const OTHERS: Actor[] = [
  { ...agent, sessionId: "s2" },
  { ...agent, by: "extraction" },
  { type: "user", userId: "s1" },
];
const FILE = "/memory/a.md";

let stub: MemdirStub;
beforeEach(async () => {
  const meta = newStoreMeta();
  stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
});

describe("a writing tool that a crash cut off after its change", () => {
  test("Write of a new file knows the receipt of its own work, and makes no second version", async () => {
    const plan = await planned(tools().write, { file_path: FILE, content: "mine" });
    await commitTwice((tool) => tool.write, plan, "created");
  });

  test("Write over a file knows the receipt of its own work", async () => {
    const etag = await put("before", OTHERS[0]);
    const { write, seen } = tools();
    seen.set(FILE, etag);
    const plan = await planned(write, { file_path: FILE, content: "mine" });
    await commitTwice((tool) => tool.write, plan, "modified");
  });

  test("Edit knows the receipt of its own work", async () => {
    await put("old", OTHERS[0]);
    const plan = await planned(tools().edit, EDIT);
    await commitTwice((tool) => tool.edit, plan, "modified");
  });

  test("Delete knows the receipt of its own work", async () => {
    await put("old", OTHERS[0]);
    const plan = await planned(tools().remove, { file_path: FILE });
    await commitTwice((tool) => tool.remove, plan, "deleted");
  });
});

describe("what somebody else did meanwhile carries no receipt of theirs", () => {
  test.each(OTHERS)("the same content by %j", async (other) => {
    const plan = await planned(tools().write, { file_path: FILE, content: "mine" });
    await put("mine", other);
    expect(receiptOf(await tools().write.commit(plan, true))).toBeUndefined();
    const reply = await stub.write({ path: "a.md", bytes: bytes("mine"), actor: agent });
    expect(unwrap(reply)).toMatchObject({ status: "unchanged", receipt: undefined });
  });

  test.each(OTHERS)("the same edit by %j", async (other) => {
    await put("old", agent);
    const plan = await planned(tools().edit, EDIT);
    await put("new", other);
    expect(receiptOf(await tools().edit.commit(plan, true))).toBeUndefined();
  });

  test.each(OTHERS)("the same deletion by %j", async (other) => {
    // An earlier deletion of our own at this path is no proof of this one.
    await put("older", agent);
    unwrap(await stub.remove({ path: "a.md", actor: agent }));
    await put("old", agent);
    const plan = await planned(tools().remove, { file_path: FILE });
    unwrap(await stub.remove({ path: "a.md", actor: other }));
    const result = await tools().remove.commit(plan, true);
    expect(result.isError).toBe(false);
    expect(receiptOf(result)).toBeUndefined();
  });
});

test("a repeated write, and a repeated deletion, give the receipt of the first", async () => {
  const request = { path: "a.md", bytes: bytes("one"), actor: agent };
  const first = unwrap(await stub.write(request));
  const again = unwrap(await stub.write({ ...request, condition: { ifMatch: "stale" } }));
  if (first.status !== "written") throw new Error(first.status);
  expect(again).toMatchObject({ status: "unchanged", receipt: first.receipt });
  const removed = unwrap(await stub.remove({ path: "a.md", actor: agent }));
  if (removed.status !== "removed") throw new Error(removed.status);
  const { receipt } = removed;
  const gone = await stub.remove({ path: "a.md", actor: agent });
  expect(unwrap(gone)).toEqual({ status: "missing", receipt });
});

test("a deletion does not answer for a file that was made there since and then moved away", async () => {
  await put("one", agent);
  unwrap(await stub.remove({ path: "a.md", actor: agent }));
  await put("two", agent);
  const { id } = unwrap(await stub.head("a.md")) ?? { id: "" };
  unwrap(await stub.update({ id, path: "b.md", actor: agent }));
  const gone = unwrap(await stub.remove({ path: "a.md", actor: agent }));
  expect(gone).toEqual({ status: "missing", receipt: undefined });
});

const EDIT = { file_path: FILE, old_string: "old", new_string: "new" };

/** Commits as before the crash, then as after it. Both have the one receipt of the one version. */
async function commitTwice(
  choose: (all: ReturnType<typeof tools>) => WriteTool,
  plan: string,
  operation: Receipt["operation"],
): Promise<void> {
  const before = (await versions()).length;
  const first = receiptOf(await choose(tools()).commit(plan, false));
  const [version] = await versions();
  expect(first).toEqual({
    path: "a.md",
    operation,
    memoryId: version?.memoryId,
    versionId: version?.id,
    n: version?.n,
  });
  expect(receiptOf(await choose(tools()).commit(plan, true))).toEqual(first);
  expect(await versions()).toHaveLength(before + 1);
}

/** The tools of the session's agent, as a start after a crash makes them. */
function tools() {
  const store = createMemdirFiles(stub, { actor: agent });
  const seen = new Map<string, string>();
  const mounts = createMounts([
    { at: "/memory", store, rights: "write", maxFileBytes: 250_000, label: "memory" },
  ]);
  const toolEnv = { mounts, seen };
  return {
    seen,
    write: createWriteTool(toolEnv),
    edit: createEditTool(toolEnv),
    remove: createDeleteTool(toolEnv),
  };
}

async function planned(tool: WriteTool, input: object): Promise<string> {
  const result = await tool.plan(input, new AbortController().signal);
  if (result.status !== "planned") throw new Error(result.result.content);
  return result.plan;
}

function receiptOf({ isError, notes }: ToolResult): Receipt | undefined {
  expect(isError).toBe(false);
  const changed = notes.filter((note) => note.type === "changed");
  expect(changed).toHaveLength(1);
  return changed[0]?.receipt;
}

async function versions(): Promise<Version[]> {
  return unwrap(await stub.versions({ limit: 100, withContent: false }));
}

async function put(text: string, actor: Actor = agent): Promise<string> {
  const reply = unwrap(await stub.write({ path: "a.md", bytes: bytes(text), actor }));
  if (reply.status !== "written") throw new Error(reply.status);
  return reply.head.sha256;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
