// What lies in the rows of a session that nobody opens, and what two that ask at once do.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { appendEntry } from "../../../src/platform/threads/entries.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { textDraft } from "../../../src/shared/thread/entry.ts";
import { workHandler } from "../http/consumer.ts";
import { readMeta } from "../rows/meta.ts";
import { mainThread } from "../rows/session-threads.ts";
import {
  endedTurn,
  inside,
  type Life,
  made,
  session,
  withExtractions,
} from "../testing/extraction-life-fixture.ts";
import { newMeta } from "../testing/meta-fixture.ts";
import { owner, stub } from "../testing/session-object-fixture.ts";
import { settleLosses, untoldDeletions } from "./settle-losses.ts";

withExtractions();

const PATH = "vault.md";
const TEXT = "The key of the vault lies in Oslo, below the third stone.";
const actor = { type: "user", userId: "ann" } as const;

test("a queue message cleans a session that nobody opens, and coming twice it does no more", async () => {
  const id = await listedSession();
  let store = "";
  await inside(id, async (life) => {
    endedTurn(life.sql, "Where is the key?");
    await settleLosses(life.ports());
    const made = await write(life);
    attach(life, made);
    await erase(life, made);
    expect(rowsOf(life)).toContain("third stone");
    store = life.store;
  });
  for (const _ of [1, 2]) await workHandler(env).run({ kind: "erase", ...owner, store });
  await inside(id, async (life) => {
    expect(rowsOf(life)).not.toContain("third stone");
    expect(untoldDeletions(life.sql)).toEqual([PATH]);
    const once = rowsOf(life);
    await settleLosses(life.ports());
    expect(rowsOf(life)).toBe(once);
  });
});

test("two that ask at once erase once and tell once", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "Where is the key?");
    await settleLosses(life.ports());
    const made = await write(life);
    attach(life, made);
    await erase(life, made);
    await Promise.all([1, 2, 3].map(() => settleLosses(life.ports())));
    expect(rowsOf(life)).not.toContain("third stone");
    expect(untoldDeletions(life.sql)).toEqual([PATH]);
  });
});

test("a death before the erasing is on disk leaves it to be done", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "Where is the key?");
    await settleLosses(life.ports());
    const made = await write(life);
    attach(life, made);
    await erase(life, made);
    const commit = () => {
      throw new Error("It died");
    };
    await expect(settleLosses({ ...life.ports(), commit })).rejects.toThrow("It died");
    expect(rowsOf(life)).toContain("third stone");
    await settleLosses(life.ports());
    expect(rowsOf(life)).not.toContain("third stone");
  });
});

/** One that its account knows of, as every session that was made by a request. */
async function listedSession(): Promise<string> {
  const account = accountStub(env, owner);
  const { id } = unwrap(await account.reserve(undefined, Date.now()));
  made.push(id);
  const meta = { ...newMeta(id), environmentId: id, projectRoot: `/workspace/${id}` };
  const { listed } = unwrap(await stub(id).create(meta, []));
  await account.ready(id, listed);
  return id;
}

async function write({ memory }: Life): Promise<Receipt> {
  const bytes = new TextEncoder().encode(TEXT);
  const reply = unwrap(await memory().write({ path: PATH, bytes, actor }));
  if (reply.status !== "written") throw new Error(reply.status);
  return reply.receipt;
}

/** As a search would have put it into the conversation. */
function attach({ sql }: Life, { memoryId }: Receipt): void {
  const { memory } = readMeta(sql);
  const path = `${memory.enabled ? memory.directory : ""}/${PATH}`;
  const memories = [{ path, start: 0, end: TEXT.length }];
  appendEntry(mainThread(sql), 1, textDraft({ type: "recall", memories }, TEXT));
  sql.exec("INSERT INTO shown_memories (memory, turn, bytes) VALUES (?, 1, 10)", memoryId);
}

async function erase({ memory }: Life, { versionId }: Receipt): Promise<void> {
  unwrap(await memory().remove({ path: PATH, actor }));
  unwrap(await memory().redact(versionId, actor));
}

function rowsOf({ sql }: Life): string {
  return JSON.stringify(sql.exec("SELECT details, body FROM messages ORDER BY n").toArray());
}
