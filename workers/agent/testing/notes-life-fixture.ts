// The notes of a session in its object: a conversation that has grown to so many tokens, the model
// behind the fork, and what came of an update.

import { env, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach } from "vitest";
import { createFakeModel } from "../../../dev/fake-model/fake-model.ts";
import { newId } from "../../../src/platform/ids.ts";
import { appendEntry } from "../../../src/platform/threads/entries.ts";
import { MODEL as SAID, USER } from "../../../src/shared/thread/entry.ts";
import { createSessionNotes } from "../notes/session-notes.ts";
import { appendEvent, readEvents } from "../rows/events.ts";
import { readMeta, writeMeta } from "../rows/meta.ts";
import { countAnswer, notesState } from "../rows/notes.ts";
import { listRuns, type Run } from "../rows/runs.ts";
import { mainThread } from "../rows/session-threads.ts";
import { addTurn, changeTurn } from "../rows/turns.ts";
import type { Session } from "../session/session.ts";
import type { SessionContext, SessionNotes } from "../setup/session-context.ts";
import { contextOf, MODEL } from "./context-fixture.ts";
import { newMeta } from "./meta-fixture.ts";
import { object, stub, withFetch } from "./session-object-fixture.ts";

/** What no script answers: a fork that has nothing to note, and a conversation. */
export const model = createFakeModel({
  reply: ({ purpose }) => ({ text: purpose === "main" ? "Hello." : "Nothing has changed." }),
});
const made = new Set<string>();

/** The model's server, and sessions that go with their test; to be called once at the top of a file. */
export function withNotes(): void {
  withFetch((request) => model.handle(request));
  beforeEach(() => model.reset());
  afterEach(async () => {
    for (const id of made) await stub(id).destroy();
    made.clear();
  });
}

export interface NotesLife {
  sql: SqlStorage;
  /** Made anew by each call, as by an object that was started again. */
  notes(ports?: Partial<SessionContext>): SessionNotes;
  /** The conversation goes on by a turn, and has so many tokens then. */
  grow(tokens: number, calls?: number): { n: number; eventId: string };
  /** An answer after which the notes are looked at, and the end of what that began. */
  update(tokens: number, ports?: Partial<SessionContext>): Promise<void>;
  runs(): Run[];
  events(): Record<string, unknown>[];
  /** All rows of the notes but what counts the conversation. */
  kept(): Record<string, unknown>;
}

/** Works in the object of a session. */
export function inside<T>(id: string, work: (life: NotesLife) => T | Promise<T>): Promise<T> {
  return runInDurableObject<Session, T>(object(id), (_instance, { storage }) => {
    const { sql } = storage;
    const life: NotesLife = {
      sql,
      notes: (ports) => createSessionNotes(contextOf(storage, ports)),
      grow(tokens, calls = 0) {
        const content = [{ type: "text" as const, text: `Build boat ${tokens}` }];
        const event = appendEvent(sql, { type: "user.message", content }, 1);
        addTurn(sql, event);
        const { n } = sql.exec<{ n: number }>("SELECT max(n) AS n FROM turns").one();
        changeTurn(sql, n, { status: "done" });
        const said = [{ type: "text" as const, text: "I see." }];
        appendEntry(mainThread(sql), n, { origin: USER, message: { role: "user", content } });
        appendEntry(mainThread(sql), n, {
          origin: SAID,
          message: { role: "assistant", content: said },
        });
        countAnswer(sql, { input: 1, cacheRead: tokens - 3, cacheCreation: 1, output: 1 }, calls);
        return { n, eventId: event.id };
      },
      async update(tokens, ports) {
        const turn = life.grow(tokens);
        const notes = life.notes(ports);
        notes.look(turn);
        await notes.inFlight();
      },
      runs: () => listRuns(sql, "session-notes", { limit: 100 }).toReversed(),
      events: () =>
        readEvents(sql, { limit: 100 })
          .filter(({ type }) => /^(session_memory|memory)/.test(type))
          .map(({ json }) => JSON.parse(json)),
      kept: () => {
        const { text, version, updatedAt, baseline, upTo, epoch } = notesState(sql);
        return { text, version, updatedAt, baseline, upTo, epoch };
      },
    };
    return work(life);
  });
}

/** A session of its own, with a memory of its own. */
export async function session(
  id = newId("sesn"),
  metadata: Record<string, string> = {},
): Promise<string> {
  made.add(id);
  const meta = { ...newMeta(id), environmentId: id, projectRoot: `/workspace/${id}`, metadata };
  await stub(id).create(meta, []);
  return id;
}

/** Lets the session's own turns reach the model, from a small conversation on. */
export function withModel(id: string, more: Record<string, string> = {}): Promise<void> {
  return runInDurableObject(object(id), (instance) => {
    Reflect.set(instance, "env", { ...env, ...MODEL, ...more });
  });
}

/** Archives a session without waiting for anything. */
export function archive(sql: SqlStorage): void {
  writeMeta(sql, { ...readMeta(sql), archivedAt: 1 });
}

/** An Edit of the notes by the fork. */
export function edit(old_string: string, new_string: string, file_path = "/session/notes.md") {
  return { name: "Edit", input: { file_path, old_string, new_string } };
}
