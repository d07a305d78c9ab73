// The notes of a session in its object: a conversation that has grown to so many tokens, the model
// behind the fork, and what came of an update.

import { env, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach } from "vitest";
import { createFakeModel } from "../../../dev/fake-model/fake-model.ts";
import { newId } from "../../../src/platform/ids.ts";
import { appendMessage } from "../../../src/platform/threads/entries.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import { createSessionNotes, type SessionNotesPorts } from "../notes/session-notes.ts";
import { appendEvent } from "../rows/events.ts";
import { readMeta, writeMeta } from "../rows/meta.ts";
import { countAnswer, type SessionNotes } from "../rows/notes.ts";
import { listRuns, type Run } from "../rows/runs.ts";
import { addTurn, changeTurn } from "../rows/turns.ts";
import type { Session } from "../session/session.ts";
import { newMeta } from "./meta-fixture.ts";
import { object, stub, withFetch } from "./session-object-fixture.ts";

export const MODEL = { ANTHROPIC_API_KEY: "demo-model", ANTHROPIC_BASE_URL: "http://model.test" };
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
    for (const id of made) await stub(id).destroy(0);
    made.clear();
  });
}

export interface NotesLife {
  sql: SqlStorage;
  /** Made anew by each call, as by an object that was started again. */
  notes(ports?: Partial<SessionNotesPorts>): SessionNotes;
  /** The conversation goes on by a turn, and has so many tokens then. */
  grow(tokens: number, calls?: number): { n: number; eventId: string };
  /** An answer behind which the notes are looked at, and the end of what that began. */
  update(tokens: number, ports?: Partial<SessionNotesPorts>): Promise<void>;
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
      notes: (ports = {}) =>
        createSessionNotes({
          sql,
          env,
          settings: { ...variablesOf(env), ...MODEL },
          commit: (write) => storage.transactionSync(write),
          now: () => Date.now(),
          overBudget: async () => false,
          waitUntil: () => {},
          ended: () => {},
          ...ports,
        }),
      grow(tokens, calls = 0) {
        const content = [{ type: "text" as const, text: `Build boat ${tokens}` }];
        const event = appendEvent(sql, { type: "user.message", content }, 1);
        addTurn(sql, event.id, JSON.stringify(content));
        const { n } = sql.exec<{ n: number }>("SELECT max(n) AS n FROM turns").one();
        changeTurn(sql, n, { status: "done", outcome: { reason: "end_turn" } });
        appendMessage(sql, n, { role: "user", content });
        appendMessage(sql, n, { role: "assistant", content: [{ type: "text", text: "I see." }] });
        countAnswer(sql, { input: 1, cacheRead: tokens - 3, cacheCreation: 1, output: 1 }, calls);
        return { n, eventId: event.id };
      },
      async update(tokens, ports) {
        const turn = life.grow(tokens);
        const notes = life.notes(ports);
        notes.answered(turn, false);
        await notes.inFlight();
      },
      runs: () => listRuns(sql, "session-notes", { limit: 100 }).toReversed(),
      events: () =>
        sql
          .exec<{ body: string }>(
            "SELECT body FROM events WHERE type LIKE 'session_memory%' OR type LIKE 'memory%' ORDER BY seq",
          )
          .toArray()
          .map(({ body }) => JSON.parse(body)),
      kept: () =>
        sql
          .exec("SELECT text, version, updated_at, baseline, up_to, epoch FROM notes")
          .toArray()[0] ?? {},
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

export async function settle(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let n = 0; n < 400; n += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("It did not come to pass");
}
