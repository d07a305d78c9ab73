// What a fork's run did, for people: its calls with the reasons of refusals, and what it saved. It
// stays when the run has ended.

import * as z from "zod";
import { callById } from "../../../src/platform/threads/calls.ts";
import type { Thread } from "../../../src/platform/threads/thread.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { receipt } from "../../../src/shared/files/receipt.ts";
import { FORK_LOG_CALLS } from "../../../src/shared/limits/extraction.ts";
import type { StepHook } from "../../../src/shared/loop/steps.ts";
import type { ToolResult } from "../../../src/shared/loop/tool.ts";
import { receiptsIn } from "../../../src/shared/loop/tool.ts";
import { cutCharacters } from "../../../src/shared/text/bytes.ts";
import type { ToolUseBlock } from "../../../src/shared/thread/messages.ts";

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

/** Keeps what the calls of a fork came to, and what it saved. */
export function runLogHook(sql: SqlStorage, run: { n: number; thread: Thread }): StepHook {
  return {
    record(step) {
      if (step.type !== "call_finished") return;
      const call = callById(run.thread, step.callId);
      if (call) addToLog(sql, run.n, call, step.result, receiptsIn(step.result.notes));
    },
  };
}

/** One call that has its result. */
function addToLog(
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
    path: typeof path === "string" ? cutCharacters(path, ERROR_CHARACTERS) : undefined,
    error: result.isError ? cutCharacters(result.content, ERROR_CHARACTERS) : undefined,
  };
  writeLog(sql, n, {
    ...(log.calls.length < FORK_LOG_CALLS
      ? { calls: [...log.calls, entry] }
      : { calls: log.calls, omitted: (log.omitted ?? 0) + 1 }),
    saved: [...log.saved, ...receipts],
  });
}

/** What a run has done so far. */
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
