// Looks through all rows of a session for copies of erased memories. A conversation may be long: rows are
// read one at a time, and others are let in meanwhile.

import * as z from "zod";
import { readPrompt } from "../../../src/platform/threads/prompt.ts";
import { replaceStored } from "../../../src/platform/threads/stored-results.ts";
import { mainThread } from "../rows/session-threads.ts";
import { changePrompt } from "../setup/system-prompt.ts";
import {
  boundaryInstead,
  createCopies,
  ERASED,
  type Erased,
  promptInstead,
  recallInstead,
} from "./copies.ts";

/** A change of a row, to be made within a transaction. */
type Change = () => void;
type Copies = ReturnType<typeof createCopies>;

const recallSchema = z.object({
  memories: z.array(z.object({ path: z.string(), start: z.number(), end: z.number() })),
});
const storedSchema = z.object({
  stored: z.array(z.object({ callId: z.string(), path: z.string() })),
});
const messageSchema = z.looseObject({ content: z.array(z.unknown()) });
const resultSchema = z.looseObject({ content: z.string() });
const callSchema = z.object({ id: z.string(), input: z.looseObject({}) });
const toolUseSchema = z.looseObject({ input: z.looseObject({}) });
const eventSchema = z.looseObject({ tool_use_id: z.string(), content: z.array(z.unknown()) });
const viewSchema = z.looseObject({ head: z.array(z.looseObject({ message: messageSchema })) });
const textSchema = z.looseObject({ type: z.literal("text"), text: z.string() });

/** Everything that has to change so that no row shows an erased memory. Changes nothing itself. */
export async function findCopies(sql: SqlStorage, erased: Erased): Promise<Change[]> {
  const copies = createCopies(erased);
  return [
    ...(await inPrompt(sql, erased)),
    ...(await inMessages(sql, copies)),
    ...(await inEvents(sql, erased)),
    // What the copies said is known by now.
    ...(await inViews(sql, erased, copies)),
    ...inAnswers(sql, copies),
    ...(await inKnown(sql, erased)),
  ];
}

async function inPrompt(sql: SqlStorage, erased: Erased): Promise<Change[]> {
  const blocks = readPrompt(mainThread(sql)) ?? [];
  let changed = false;
  const next: string[] = [];
  for (const block of blocks) {
    const instead = await promptInstead(erased, block);
    changed ||= instead !== undefined;
    next.push(instead ?? block);
  }
  return changed ? [() => changePrompt(mainThread(sql), next)] : [];
}

/** Messages of all threads, and the calls whose results are no message yet. */
async function inMessages(sql: SqlStorage, copies: Copies): Promise<Change[]> {
  const changes: Change[] = [];
  const next = "SELECT n, turn, origin, details, body FROM messages WHERE n > ? AND origin IN ";
  const asked = `${next} ('recall', 'results', 'model') ORDER BY n LIMIT 1`;
  type Row = { n: number; turn: number; origin: string; details: string | null; body: string };
  let [row] = sql.exec<Row>(asked, -1).toArray();
  while (row) {
    const { n, turn, origin, details, body } = row;
    if (origin === "model" && body.includes('"tool_use"')) {
      await copies.answer(parsed(messageSchema, body)?.content ?? []);
    }
    if (origin === "recall") {
      const memories = parsed(recallSchema, details ?? "{}")?.memories ?? [];
      const paths = memories.map(({ path }) => path);
      const [shown] = parsed(messageSchema, body)?.content ?? [];
      const whole = textSchema.safeParse(shown).data?.text ?? "";
      for (const { path, start, end } of memories) {
        if (await copies.isErased(path)) copies.erase(whole.slice(start, end));
      }
      if (await some(paths, copies.isErased)) {
        const message = JSON.stringify(recallInstead());
        changes.push(() => {
          const left = JSON.stringify({ memories: [] });
          sql.exec("UPDATE messages SET details = ?, body = ? WHERE n = ?", left, message, n);
          // What else stood in it may be attached again.
          sql.exec("DELETE FROM shown_memories WHERE turn = ?", turn);
        });
      }
    }
    if (origin === "results") {
      const message = parsed(messageSchema, body);
      const { content, changed } = await copies.results(message?.content ?? []);
      if (changed.length > 0) {
        const text = JSON.stringify({ ...message, content });
        const { stored = [] } = parsed(storedSchema, details ?? "{}") ?? {};
        const files = stored.filter(({ callId }) => changed.includes(callId));
        changes.push(() => {
          sql.exec("UPDATE messages SET body = ? WHERE n = ?", text, n);
          for (const { path } of files) replaceStored(sql, path, ERASED);
        });
      }
    }
    [row] = sql.exec<Row>(asked, n).toArray();
  }
  return [...changes, ...(await inCalls(sql, copies))];
}

async function inCalls(sql: SqlStorage, copies: Copies): Promise<Change[]> {
  const changes: Change[] = [];
  const rows = sql.exec<{ n: number; body: string; result: string | null; stored: string | null }>(
    "SELECT n, body, result, stored FROM calls ORDER BY n",
  );
  for (const { n, body, result, stored } of rows.toArray()) {
    const call = parsed(callSchema, body);
    if (!call) continue;
    await copies.call(call.id, call.input);
    const before = parsed(resultSchema, result ?? "{}");
    const content = before && (await copies.result(call.id, before.content));
    if (content === undefined) continue;
    const text = JSON.stringify({ ...before, content });
    changes.push(() => {
      sql.exec("UPDATE calls SET result = ?, stored = NULL WHERE n = ?", text, n);
      if (stored !== null) replaceStored(sql, stored, ERASED);
    });
  }
  return changes;
}

/** What a compaction attached. */
async function inViews(sql: SqlStorage, erased: Erased, known: Copies): Promise<Change[]> {
  const changes: Change[] = [];
  const numbers = sql.exec<{ n: number }>("SELECT n FROM views ORDER BY n").toArray();
  for (const { n } of numbers) {
    const { body } = sql.exec<{ body: string }>("SELECT body FROM views WHERE n = ?", n).one();
    const view = parsed(viewSchema, body);
    let changed = false;
    const copies = createCopies(erased);
    for (const entry of view?.head ?? []) {
      await copies.answer(entry.message.content);
      const found = await copies.results(entry.message.content);
      changed ||= found.changed.length > 0;
      const blocks = [];
      for (const block of found.content) {
        const text = textSchema.safeParse(block).data;
        const whole = text && (await boundaryInstead(erased, text.text));
        const instead = text && (known.unquoted(whole ?? text.text) ?? whole);
        changed ||= instead !== undefined;
        blocks.push(instead === undefined ? block : { ...text, text: instead });
      }
      entry.message.content = blocks;
    }
    if (!changed) continue;
    const text = JSON.stringify(view);
    changes.push(() => void sql.exec("UPDATE views SET body = ? WHERE n = ?", text, n));
  }
  return changes;
}

/** Answers that repeat a line of what was erased. What the user said stays. */
function inAnswers(sql: SqlStorage, copies: Copies): Change[] {
  const places = [
    { table: "messages", key: "n", which: "origin = 'model'" },
    { table: "events", key: "seq", which: "type = 'agent.message'" },
  ];
  return places.flatMap(({ table, key, which }) => {
    const changes: Change[] = [];
    const asked = `SELECT ${key} AS n, body FROM ${table}
      WHERE ${key} > ? AND ${which} ORDER BY ${key} LIMIT 1`;
    let [row] = sql.exec<{ n: number; body: string }>(asked, -1).toArray();
    while (row) {
      const { n, body } = row;
      const message = parsed(messageSchema, body);
      let changed = false;
      const content = message?.content.map((block) => {
        const text = textSchema.safeParse(block).data;
        const instead = text && copies.unquoted(text.text);
        changed ||= instead !== undefined;
        return instead === undefined ? block : { ...text, text: instead };
      });
      if (changed) {
        const text = JSON.stringify({ ...message, content });
        changes.push(() => {
          sql.exec(`UPDATE ${table} SET body = ? WHERE ${key} = ?`, text, n);
        });
      }
      [row] = sql.exec<{ n: number; body: string }>(asked, n).toArray();
    }
    return changes;
  });
}

/** The one thing that changes a row of the log: what is erased is in no event either. */
async function inEvents(sql: SqlStorage, erased: Erased): Promise<Change[]> {
  const changes: Change[] = [];
  const copies = createCopies(erased);
  const asked = `SELECT seq, id, type, body FROM events
    WHERE seq > ? AND type IN ('agent.tool_use', 'agent.tool_result') ORDER BY seq LIMIT 1`;
  type Row = { seq: number; id: string; type: string; body: string };
  let [row] = sql.exec<Row>(asked, 0).toArray();
  while (row) {
    const { seq, id, type, body } = row;
    if (type === "agent.tool_use") {
      const use = parsed(toolUseSchema, body);
      if (use) await copies.call(id, use.input);
    } else {
      const event = parsed(eventSchema, body);
      const text = event?.content.map((block) => textSchema.safeParse(block).data?.text ?? "");
      const instead = event && text && (await copies.result(event.tool_use_id, text.join("\n")));
      if (instead !== undefined) {
        const next = JSON.stringify({ ...event, content: [{ type: "text", text: instead }] });
        changes.push(() => void sql.exec("UPDATE events SET body = ? WHERE seq = ?", next, seq));
      }
    }
    [row] = sql.exec<Row>(asked, seq).toArray();
  }
  return changes;
}

/** Nobody knows its content any more: it may neither be written over unread nor be left out as known. */
async function inKnown(sql: SqlStorage, erased: Erased): Promise<Change[]> {
  const changes: Change[] = [];
  const { isErased } = createCopies(erased);
  for (const { path } of sql
    .exec<{ path: string }>("SELECT DISTINCT path FROM read_files")
    .toArray()) {
    if (!(await isErased(path))) continue;
    changes.push(() => void sql.exec("DELETE FROM read_files WHERE path = ?", path));
  }
  return changes;
}

async function some<T>(items: readonly T[], holds: (item: T) => Promise<boolean>) {
  for (const item of items) if (await holds(item)) return true;
  return false;
}

function parsed<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
