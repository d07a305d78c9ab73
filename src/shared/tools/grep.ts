import * as z from "zod";
import type { MountedFile } from "../files/mounts.ts";
import { STORAGE_CONCURRENCY } from "../limits/files.ts";
import {
  GREP_FILE_BYTES,
  GREP_FILES,
  GREP_RESULTS,
  GREP_TOTAL_BYTES,
  READ_BYTES,
  TOOL_LINE_CHARACTERS,
  WALK_ENTRIES,
} from "../limits/tools.ts";
import type { ReadTool, ToolResult } from "../loop/tool.ts";
import { decodeText } from "../text/decode.ts";
import { compileGlob } from "../text/glob-pattern.ts";
import { compileExpression, type Expression } from "./grep-expression.ts";
import { grepFiles } from "./grep-files.ts";
import { type GrepResultLimits, grepResult, Rows, type Skipped } from "./grep-result.ts";
import { inputSchema, parseInput } from "./input.ts";
import { nextTask, PACE_LIMITS, Pace, type PaceLimits, type Pause } from "./pace.ts";
import { failure, failureOf } from "./result.ts";
import { existsEmpty, sandboxDirectory, type ToolEnv } from "./sandbox.ts";

const schema = z.strictObject({
  pattern: z.string().min(1).describe("Regular expression in RE2 syntax, held against each line"),
  path: z.string().optional().describe("Absolute file or directory; everywhere if left out"),
  glob: z.string().optional().describe('Only files whose path matches, such as "*.md"'),
  ignore_case: z.boolean().default(false).describe("Take upper and lower case as the same"),
});

const description = `Searches inside text files and lists the lines that match, as path:line: text.
- pattern is an RE2 regular expression (no lookaround, no backreferences), within one line. Put a backslash before special characters to search for them as they are: \\(, \\., \\[.
- Narrow it with path and glob. At most ${GREP_RESULTS} lines come back; a note says what was not searched.`;

export interface GrepLimits extends GrepResultLimits {
  /** Reads in flight. */
  concurrency: number;
  /** Steps of the pattern. */
  pace: PaceLimits;
}

export const GREP_LIMITS: GrepLimits = {
  results: GREP_RESULTS,
  resultBytes: READ_BYTES,
  lineCharacters: TOOL_LINE_CHARACTERS,
  files: GREP_FILES,
  fileBytes: GREP_FILE_BYTES,
  totalBytes: GREP_TOTAL_BYTES,
  entries: WALK_ENTRIES,
  concurrency: STORAGE_CONCURRENCY,
  pace: PACE_LIMITS,
};

/** Cost of a line beside its own characters, in characters. */
const LINE_OVERHEAD = 16;

/**
 * Lists matching lines of text files, read a few at a time. `pause` divides long work into slices of at
 * most some 20 ms, so that other tasks run and an interrupt takes effect.
 */
export function createGrepTool(
  env: ToolEnv,
  limits: GrepLimits = GREP_LIMITS,
  pause: Pause = nextTask,
): ReadTool {
  async function run(input: unknown, signal: AbortSignal): Promise<ToolResult> {
    const parsed = parseInput(schema, "Grep", input);
    if (parsed.status === "refused") return parsed.result;
    const { pattern, path = "/", glob, ignore_case } = parsed.input;
    const expression = compileExpression(pattern, ignore_case);
    if (expression.status === "refused") return failure(expression.message);
    const filter = glob === undefined ? undefined : compileGlob(glob.replace(/^\/+/, ""));
    if (filter?.status === "refused") return failure(filter.message);
    const target = sandboxDirectory(env.mounts, path);
    if (target.status === "refused") return failure(target.message);
    try {
      const skipped: Skipped = {
        tooLarge: 0,
        overLimit: 0,
        binary: 0,
        unreadable: 0,
        longPaths: 0,
        longLines: 0,
        characters: expression.characters,
        exhausted: false,
        unlisted: false,
      };
      const pace = new Pace(limits.pace, pause);
      const found = await grepFiles(env, target.path, filter, limits, skipped, pace, signal);
      if (found.visited === 0 && !existsEmpty(env.mounts, target.path)) {
        return failure(`Cannot search ${target.path}: there is no such file or directory`);
      }
      const { files } = found;
      const rows = new Rows(limits);
      for (let next = 0; next < files.length && !rows.full; next += limits.concurrency) {
        if (signal.aborted || skipped.exhausted) break;
        const batch = files.slice(next, next + limits.concurrency);
        const texts = await Promise.all(batch.map((file) => readText(file, skipped)));
        for (const [index, file] of batch.entries()) {
          await search(file.path, texts[index] ?? "", expression, rows, skipped, pace, signal);
        }
      }
      if (signal.aborted) return failure("Grep was stopped before it ended");
      if (files.length > 0 && skipped.unreadable === files.length) {
        return failure(`Grep in ${target.path} failed: the file storage did not answer. Try again`);
      }
      return grepResult(pattern, target.path, rows, skipped, limits);
    } catch (error) {
      return failureOf(error, `Grep in ${target.path}`);
    }
  }
  return { kind: "read", name: "Grep", description, input_schema: inputSchema(schema), run };
}

/** Adds the lines that match, until the result is full, the steps are used up or the call is aborted. */
async function search(
  path: string,
  text: string,
  expression: Extract<Expression, { status: "compiled" }>,
  rows: Rows,
  skipped: Skipped,
  pace: Pace,
  signal: AbortSignal,
): Promise<void> {
  const { matches, characters, steps } = expression;
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
    const pausing = pace.before(steps * (Math.min(line.length, characters) + LINE_OVERHEAD));
    if (pausing) await pausing;
    if (rows.full || signal.aborted) return;
    if (pace.exhausted) {
      skipped.exhausted = true;
      return;
    }
    if (line.length > characters) skipped.longLines += 1;
    // A lone surrogate at the cut is U+FFFD to the pattern: it matches less, not more.
    if (matches(line.slice(0, characters))) rows.add(path, number, line);
  }
}

/** The lines of a text one by one: splitting a million lines at once would block other tasks. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    yield text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end);
    start = end + 1;
  }
}

async function readText(file: MountedFile, skipped: Skipped): Promise<string | undefined> {
  try {
    const stored = await file.mount.store.get(file.relative);
    // Undefined: deleted since it was listed.
    if (stored === undefined) return undefined;
    const text = decodeText(stored.bytes);
    if (text === undefined) skipped.binary += 1;
    return text;
  } catch {
    skipped.unreadable += 1;
    return undefined;
  }
}
