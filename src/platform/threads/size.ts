// How large the conversation is for its model, and when something is to be done about it next.

import * as z from "zod";
import { answeredSize, messageTokens, NO_SIZE } from "../../shared/compaction/size.ts";
import type { Usage } from "../../shared/loop/model.ts";
import { textTokens } from "../../shared/loop/tokens.ts";
import type { ToolSpec } from "../../shared/loop/tool.ts";
import { lastMessage } from "./entries.ts";
import { readViewed } from "./view.ts";

/** One of the tables of a session. */
export const CONTEXT_TABLE =
  "CREATE TABLE IF NOT EXISTS context (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL)";

const schema = z.object({
  /** Tokens of all messages up to this number, as the API counted them; null after a cut. */
  counted: z.number().nullable(),
  upTo: z.number(),
  ratio: z.number(),
  /** A shrinking, and a compaction, is not due below these tokens: the last one made no more room. */
  shrinkFrom: z.number(),
  compactFrom: z.number(),
  /** Compactions that failed in a row, and the turn of the last one. */
  failures: z.number(),
  failedTurn: z.number(),
  /** Somebody asked for a compaction. */
  requested: z.boolean(),
});

export type Context = z.infer<typeof schema>;

const NONE: Context = {
  ...NO_SIZE,
  upTo: 0,
  shrinkFrom: 0,
  compactFrom: 0,
  failures: 0,
  failedTurn: 0,
  requested: false,
};

export function readContext(sql: SqlStorage): Context {
  const [row] = sql.exec<{ body: string }>("SELECT body FROM context").toArray();
  return row ? schema.parse(JSON.parse(row.body)) : NONE;
}

/** Changes some fields. Within a transaction. */
export function changeContext(sql: SqlStorage, change: Partial<Context>): void {
  const body = JSON.stringify({ ...readContext(sql), ...change });
  sql.exec("INSERT OR REPLACE INTO context (id, body) VALUES (1, ?)", body);
}

/** What stands before the messages of every request, in tokens by its bytes. */
export function fixedTokens(system: readonly string[], tools: readonly ToolSpec[]): number {
  const specs = tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    input_schema,
  }));
  return textTokens(system.join("\n")) + textTokens(JSON.stringify(specs));
}

/** Tokens by bytes of what the API has not counted yet. */
export function tailTokens(sql: SqlStorage, fixed: number): number {
  const { counted, upTo } = readContext(sql);
  const { head, placed } = readViewed(sql);
  const tail = placed.flatMap(({ n, message }) => (counted === null || n > upTo ? [message] : []));
  return messageTokens(tail) + (counted === null ? fixed + messageTokens(head) : 0);
}

/**
 * An answer was recorded whose request had so many tokens behind what was counted. Within its
 * transaction, behind its message. `window` is the model's, in tokens.
 */
export function noteAnswered(sql: SqlStorage, tail: number, window: number, usage: Usage): void {
  const size = answeredSize(readContext(sql), tail, window, usage);
  if (!size) return;
  changeContext(sql, { ...size, upTo: lastMessage(sql) });
}
