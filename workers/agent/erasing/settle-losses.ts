// What a session was shown may be deleted or redacted later, by anybody. It asks its memory directory
// before it sends, shows or replays anything: what was redacted is erased in its rows first, and what was
// deleted is told to the model once.

import * as z from "zod";
import { errorName, log } from "../../../src/platform/log.ts";
import type { LossCursor, Losses } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { defineState } from "../../../src/platform/state.ts";
import { lastEntry } from "../../../src/platform/threads/entries.ts";
import { readPrompt } from "../../../src/platform/threads/prompt.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { countErasure } from "../rows/erasures.ts";
import { lastSeq } from "../rows/events.ts";
import { readMeta } from "../rows/meta.ts";
import { readShown } from "../rows/recalls.ts";
import { mainThread } from "../rows/session-threads.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { indexed } from "./copies.ts";
import { findCopies } from "./find-copies.ts";

const cursorSchema = z.object({ version: z.number(), redaction: z.number() });

/** Up to where this session knows what was lost; null before its first turn. */
const known = defineState<LossCursor | null>("losses", cursorSchema.nullable(), null);
/** Deletions that the model is yet to be told, by path relative to the directory. */
const untold = defineState("untold deletions", z.array(z.string()), []);

type Asking = Pick<SessionContext, "sql" | "env" | "commit" | "notes">;

/** Deletions that are to be told. */
export function untoldDeletions(sql: SqlStorage): readonly string[] {
  return untold.read(sql);
}

/** They are told. Within the transaction that puts them into the transcript. */
export function toldDeletions(sql: SqlStorage): void {
  untold.clear(sql);
}

/**
 * Takes in what was lost since this session asked last. It may be called at any time, by several at once.
 * A directory that cannot be asked holds nobody up: it is asked again with the next call.
 */
export async function settleLosses(session: Asking): Promise<void> {
  const losses = await ask(session);
  if (!losses) return;
  const { sql } = session;
  const before = known.read(sql);
  if (!before) {
    // Its copies are all yet to come. On disk before them: what is lost from here on concerns them.
    session.commit(() => {
      if (!known.read(sql)) known.write(sql, losses.cursor);
    });
    return;
  }
  const { id } = readMeta(sql);
  // Before its copies are gone.
  const deleted = losses.deleted
    .filter((lost) => lost.sessionId !== id && wasShown(sql, lost))
    .map(({ path }) => path);
  const changed = await eraseCopies(session, losses);
  const now = known.read(sql) ?? before;
  const cursor = {
    version: Math.max(now.version, losses.cursor.version),
    redaction: Math.max(now.redaction, losses.cursor.redaction),
  };
  if (deleted.length === 0 && !changed) {
    known.note(sql, cursor);
    return;
  }
  session.commit(() => {
    known.write(sql, cursor);
    // Asked for twice at once, it is told once.
    const news = now.version >= losses.cursor.version ? [] : deleted;
    untold.write(sql, [...new Set([...untold.read(sql), ...news])]);
  });
}

/** Whether the conversation has its line or its text. */
function wasShown(sql: SqlStorage, { path, memoryId }: Losses["deleted"][number]): boolean {
  const { memory } = readMeta(sql);
  const [read] = memory.enabled
    ? sql
        .exec("SELECT 1 FROM read_files WHERE path = ? LIMIT 1", `${memory.directory}/${path}`)
        .toArray()
    : [];
  if (read || readShown(sql).has(memoryId)) return true;
  return (readPrompt(mainThread(sql)) ?? []).some((block) => indexed(block).includes(path));
}

async function ask({ sql, env }: Asking): Promise<Losses | undefined> {
  const meta = readMeta(sql);
  if (!meta.memory.enabled) return undefined;
  try {
    const stub = memdirStub(env, userOwner(meta), meta.memory.storeId);
    return unwrap(await stub.losses(known.read(sql) ?? undefined));
  } catch (error) {
    log("session.losses_unknown", { error: errorName(error) });
    return undefined;
  }
}

async function eraseCopies(session: Asking, { redacted }: Losses): Promise<boolean> {
  const { memory } = readMeta(session.sql);
  if (redacted.length === 0 || !memory.enabled) return false;
  const { sql } = session;
  const digests = new Map<string, Promise<string>>();
  const wanted = {
    directory: memory.directory,
    async has(path: string): Promise<boolean> {
      const digest = digests.get(path) ?? sha256Hex(new TextEncoder().encode(path));
      digests.set(path, digest);
      return redacted.includes(await digest);
    },
  };
  for (;;) {
    const looked = newestRows(sql);
    const changes = await findCopies(sql, wanted);
    // Rows that came meanwhile may hold copies too.
    if (newestRows(sql) !== looked) continue;
    if (changes.length === 0) return false;
    session.notes.stop();
    session.commit(() => {
      for (const change of changes) change();
      countErasure(sql);
    });
    return true;
  }
}

function newestRows(sql: SqlStorage): string {
  return `${lastEntry(mainThread(sql))} ${lastSeq(sql)}`;
}
