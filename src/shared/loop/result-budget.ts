import { TOOL_RESULT_BYTES, TOOL_RESULT_LEAST_BYTES, TOOL_RESULTS_BYTES } from "../limits/tools.ts";
import { byteLength, cutBytes } from "../text/bytes.ts";
import { cutJson, jsonBytes } from "./json-size.ts";
import { storedNote } from "./stored-result.ts";
import type { ToolResult } from "./tool.ts";

export interface ResultLimits {
  /** UTF-8 bytes of one result. */
  one: number;
  /** JSON bytes of all results of an answer. */
  all: number;
  /** JSON bytes that every result may have, however many there are. */
  least: number;
}

/** For a large context window. */
export const RESULT_LIMITS: ResultLimits = {
  one: TOOL_RESULT_BYTES,
  all: TOOL_RESULTS_BYTES,
  least: TOOL_RESULT_LEAST_BYTES,
};

/** JSON bytes of a block beside its content: field names, an id, the error flag. */
const BLOCK_BYTES = 140;

export interface ResultBudget {
  /** Counts a result that is on disk already. */
  count(result: ToolResult): void;
  /**
   * The result, cut and marked if it is over its share. `storedAt`: the path where all of it will be
   * stored; without one the mark says how to ask for less.
   */
  fit(result: ToolResult, storedAt?: string): ToolResult;
}

/**
 * Limits the results of one answer to what a message, a row and a context window can take. Fit each
 * result before it is recorded, so that history and events agree. Every call that has no result yet
 * keeps its share.
 */
export function createResultBudget(
  calls: number,
  limits: ResultLimits = RESULT_LIMITS,
): ResultBudget {
  let remaining = calls;
  let used = 0;
  const count = ({ content }: ToolResult) => {
    remaining -= 1;
    used += jsonBytes(content) + BLOCK_BYTES;
  };
  return {
    count,
    fit(result, storedAt) {
      const kept = limits.least * (remaining - 1);
      const share = Math.max(limits.least, limits.all - used - kept) - BLOCK_BYTES;
      const fitted = cut(result, limits.one, share, storedAt);
      count(fitted);
      return fitted;
    },
  };
}

function cut(
  result: ToolResult,
  bytesMost: number,
  jsonMost: number,
  storedAt: string | undefined,
): ToolResult {
  const { content } = result;
  // Cheap first: a UTF-16 unit is at most three bytes of UTF-8 and six of JSON.
  if (content.length * 3 <= bytesMost && content.length * 6 <= jsonMost) return result;
  const bytes = byteLength(content);
  if (bytes <= bytesMost && jsonBytes(content) <= jsonMost) return result;
  const note = (left: number) => (storedAt === undefined ? mark(left) : storedNote(left, storedAt));
  const room = jsonMost - jsonBytes(note(bytes));
  const beginning = cutJson(cutBytes(content, bytesMost - byteLength(note(bytes))), room);
  return {
    ...result,
    content: beginning + note(bytes - byteLength(beginning)),
    // The model has not seen all of the file. Changes did happen.
    notes: result.notes.filter((note) => note.type !== "seen"),
  };
}

function mark(bytes: number): string {
  return `\n[${bytes} bytes were left out here. For the rest ask for less at once: fewer calls, Read with offset and limit]`;
}
