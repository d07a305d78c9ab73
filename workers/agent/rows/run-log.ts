// What a fork's run did, for people: its calls with the reasons of refusals, and what it saved. It
// stays when the run has ended.

import * as z from "zod";
import type { Receipt } from "../../../src/platform/objects/memdir-rpc.ts";
import { FORK_LOG_CALLS } from "../../../src/shared/limits/extraction.ts";
import type { ToolUseBlock } from "../../../src/shared/loop/messages.ts";
import type { ToolResult } from "../../../src/shared/loop/tool.ts";
import { cutCharacters } from "../../../src/shared/text/bytes.ts";

const receipt = z.object({
  path: z.string(),
  operation: z.enum(["created", "modified", "deleted"]),
  memoryId: z.string(),
  versionId: z.string(),
  n: z.number(),
});
/** A log that cannot be read tells nothing, and spoils nothing else. */
const logSchema = z
  .object({
    calls: z.array(
      z.object({
        tool: z.string(),
        path: z.string().optional(),
        /** Why it was refused or failed. */
        error: z.string().optional(),
      }),
    ),
    /** Calls that came when the log was full. */
    omitted: z.number().optional(),
    saved: z.array(receipt),
  })
  .catch({ calls: [], saved: [] });
export type RunLog = z.infer<typeof logSchema>;

/** A reason in the log, in characters. */
const ERROR_CHARACTERS = 400;

/** Adds changes that no call of the fork made itself to its log. */
export function addSaved(sql: SqlStorage, n: number, receipts: readonly Receipt[]): void {
  const log = readLog(sql, n);
  writeLog(sql, n, { ...log, saved: [...log.saved, ...receipts] });
}

/** One call that has its result. Within a transaction. */
export function addToLog(
  sql: SqlStorage,
  n: number,
  call: ToolUseBlock,
  result: ToolResult,
  receipts: readonly Receipt[],
): void {
  const log = readLog(sql, n);
  const path = call.input.file_path ?? call.input.path;
  const entry = {
    tool: call.name.slice(0, 64),
    ...(typeof path === "string" ? { path: cutCharacters(path, ERROR_CHARACTERS) } : {}),
    ...(result.isError ? { error: cutCharacters(result.content, ERROR_CHARACTERS) } : {}),
  };
  writeLog(sql, n, {
    ...(log.calls.length < FORK_LOG_CALLS
      ? { calls: [...log.calls, entry] }
      : { calls: log.calls, omitted: (log.omitted ?? 0) + 1 }),
    saved: [...log.saved, ...receipts],
  });
}

/** What a run has done so far. Read without its messages, which may be broken. */
export function readLog(sql: SqlStorage, n: number): RunLog {
  const { log } = sql.exec<{ log: string }>("SELECT log FROM runs WHERE n = ?", n).one();
  return logOf(log);
}

/** A log as it was stored. */
export function logOf(text: string): RunLog {
  try {
    return logSchema.parse(JSON.parse(text));
  } catch {
    return { calls: [], saved: [] };
  }
}

function writeLog(sql: SqlStorage, n: number, log: RunLog): void {
  sql.exec("UPDATE runs SET log = ? WHERE n = ?", JSON.stringify(log), n);
}
