// What a fork's run did, for people: its calls with the reasons of refusals, and what it saved. It
// stays when the run has ended.

import * as z from "zod";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { receipt } from "../../../src/shared/files/receipt.ts";
import { FORK_LOG_CALLS } from "../../../src/shared/limits/extraction.ts";
import type { ToolResult } from "../../../src/shared/loop/tool.ts";
import { receiptsIn } from "../../../src/shared/loop/tool.ts";
import { cutCharacters } from "../../../src/shared/text/bytes.ts";
import type { ToolUseBlock } from "../../../src/shared/thread/messages.ts";

/** A log that cannot be read tells nothing, and spoils nothing else. */
export const logSchema = z
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

/** The log with changes that no call of the fork made itself. */
export function withSaved(log: RunLog, receipts: readonly Receipt[]): RunLog {
  return { ...log, saved: [...log.saved, ...receipts] };
}

/** The log with one call that has its result, and what it saved. */
export function withCall(log: RunLog, call: ToolUseBlock, result: ToolResult): RunLog {
  const path = call.input.file_path ?? call.input.path;
  const entry = {
    tool: call.name.slice(0, 64),
    path: typeof path === "string" ? cutCharacters(path, ERROR_CHARACTERS) : undefined,
    error: result.isError ? cutCharacters(result.content, ERROR_CHARACTERS) : undefined,
  };
  return {
    ...(log.calls.length < FORK_LOG_CALLS
      ? { calls: [...log.calls, entry] }
      : { calls: log.calls, omitted: (log.omitted ?? 0) + 1 }),
    saved: [...log.saved, ...receiptsIn(result.notes)],
  };
}

/** A log as it was stored. */
export function logOf(text: string): RunLog {
  try {
    return logSchema.parse(JSON.parse(text));
  } catch {
    return { calls: [], saved: [] };
  }
}
