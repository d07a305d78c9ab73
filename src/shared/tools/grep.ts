import { RE2JS } from "re2js";
import * as z from "zod";
import { listFiles, type MountedFile, relativeTo } from "../files/mounts.ts";
import {
  GREP_FILE_BYTES,
  GREP_FILES,
  GREP_RESULTS,
  GREP_TOTAL_BYTES,
  PATTERN_CHARACTERS,
  READ_BYTES,
  STORAGE_CONCURRENCY,
  TOOL_LINE_CHARACTERS,
  WALK_ENTRIES,
} from "../limits.ts";
import type { ReadTool, ToolResult } from "../query/tool.ts";
import { isRoot } from "./glob.ts";
import { compileGlob, type GlobPattern } from "./glob-pattern.ts";
import { inputSchema, parseInput } from "./input.ts";
import { failure, failureOf, success } from "./result.ts";
import { sandboxDirectory, type ToolEnv } from "./sandbox.ts";
import { byteLength, decodeText, linesOf, showLine } from "./text.ts";

const schema = z.strictObject({
  pattern: z.string().min(1).describe("Regular expression in RE2 syntax, held against each line"),
  path: z.string().optional().describe("Absolute file or directory; everywhere if left out"),
  glob: z.string().optional().describe('Only files whose path matches, such as "*.md"'),
  ignore_case: z.boolean().default(false).describe("Take upper and lower case as the same"),
});

const description = `Searches inside text files and lists the lines that match, as path:line: text.
- pattern is an RE2 regular expression (no lookaround, no backreferences), within one line. Put a backslash before special characters to search for them as they are: \\(, \\., \\[.
- Narrow it with path and glob. At most ${GREP_RESULTS} lines come back; a note says what was not searched.`;

export interface GrepLimits {
  /** Lines of the result. */
  results: number;
  /** UTF-8 bytes of the result. */
  resultBytes: number;
  lineCharacters: number;
  /** Files opened. */
  files: number;
  /** Bytes of one file, of all files. */
  fileBytes: number;
  totalBytes: number;
  /** Files looked at by name. */
  entries: number;
  /** Reads in flight. */
  concurrency: number;
}

const LIMITS: GrepLimits = {
  results: GREP_RESULTS,
  resultBytes: READ_BYTES,
  lineCharacters: TOOL_LINE_CHARACTERS,
  files: GREP_FILES,
  fileBytes: GREP_FILE_BYTES,
  totalBytes: GREP_TOTAL_BYTES,
  entries: WALK_ENTRIES,
  concurrency: STORAGE_CONCURRENCY,
};

/** What was left out, for the note at the end. */
interface Skipped {
  tooLarge: number;
  overLimit: number;
  binary: number;
  unreadable: number;
  unlisted: boolean;
}

/** Lists matching lines of text files, read a few at a time. */
export function createGrepTool(env: ToolEnv, limits: GrepLimits = LIMITS): ReadTool {
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
      const skipped = { tooLarge: 0, overLimit: 0, binary: 0, unreadable: 0, unlisted: false };
      const found = await candidates(env, target.path, filter, limits, skipped);
      if (found.looked === 0 && !isRoot(env.mounts, target.path)) {
        return failure(`Cannot search ${target.path}: there is no such file or directory`);
      }
      const { files } = found;
      const rows = new Rows(limits);
      for (let next = 0; next < files.length && !rows.full; next += limits.concurrency) {
        if (signal.aborted) return failure("Grep was stopped before it ended");
        const batch = files.slice(next, next + limits.concurrency);
        const texts = await Promise.all(batch.map((file) => readText(file, skipped)));
        for (const [index, file] of batch.entries()) {
          rows.addMatches(file.path, texts[index] ?? "", expression.matches);
        }
      }
      if (files.length > 0 && skipped.unreadable === files.length) {
        return failure(`Grep in ${target.path} failed: the file storage did not answer. Try again`);
      }
      return answer(pattern, target.path, rows, skipped, limits);
    } catch (error) {
      return failureOf(error, `Grep in ${target.path}`);
    }
  }
  return { kind: "read", name: "Grep", description, input_schema: inputSchema(schema), run };
}

type Expression =
  | { status: "compiled"; matches: (line: string) => boolean }
  | { status: "refused"; message: string };

function compileExpression(pattern: string, ignoreCase: boolean): Expression {
  if (pattern.length > PATTERN_CHARACTERS) {
    const message = `Cannot search: pattern has ${pattern.length} characters, the limit is ${PATTERN_CHARACTERS}`;
    return { status: "refused", message };
  }
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return { status: "compiled", matches: (line) => compiled.test(line) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it is no regular expression";
    return { status: "refused", message: `Cannot search for "${pattern}" (RE2 syntax): ${reason}` };
  }
}

/** The files to open, in the order of their paths; what is left out is counted in `skipped`. */
async function candidates(
  env: ToolEnv,
  path: string,
  filter: GlobPattern | undefined,
  limits: GrepLimits,
  skipped: Skipped,
): Promise<{ files: MountedFile[]; looked: number }> {
  const files: MountedFile[] = [];
  let bytes = 0;
  let looked = 0;
  for await (const file of filesAt(env, path, limits.entries + 1)) {
    looked += 1;
    if (looked > limits.entries) {
      skipped.unlisted = true;
      break;
    }
    if (filter?.status === "compiled" && !passes(filter, path, file)) continue;
    if (file.entry.size > limits.fileBytes) skipped.tooLarge += 1;
    else if (files.length >= limits.files || bytes + file.entry.size > limits.totalBytes) {
      skipped.overLimit += 1;
    } else {
      bytes += file.entry.size;
      files.push(file);
    }
  }
  return { files, looked };
}

/** The one file that `path` names, or else all below it. */
async function* filesAt(env: ToolEnv, path: string, limit: number): AsyncGenerator<MountedFile> {
  const resolved = env.mounts.resolve(path);
  if (resolved.status === "mounted" && resolved.relative !== "") {
    const { mount, relative } = resolved;
    const entry = await mount.store.head(relative);
    if (entry !== undefined) yield { path, mount, relative, entry };
  }
  yield* listFiles(env.mounts, path, limit);
}

function passes(
  filter: Extract<GlobPattern, { status: "compiled" }>,
  base: string,
  { path, relative }: MountedFile,
): boolean {
  return [relativeTo(base, path), relative, path.slice(1)].some((name) => filter.matches(name));
}

async function readText(file: MountedFile, skipped: Skipped): Promise<string | undefined> {
  try {
    const stored = await file.mount.store.get(file.relative);
    // Deleted since it was listed: it holds no line.
    if (stored === undefined) return undefined;
    const text = decodeText(stored.bytes);
    if (text === undefined) skipped.binary += 1;
    return text;
  } catch {
    skipped.unreadable += 1;
    return undefined;
  }
}

/** The lines of the result, up to its limits. */
class Rows {
  readonly lines: string[] = [];
  full = false;
  private bytes = 0;
  private readonly limits: GrepLimits;

  constructor(limits: GrepLimits) {
    this.limits = limits;
  }

  addMatches(path: string, text: string, matches: (line: string) => boolean): void {
    for (const [index, line] of linesOf(text).entries()) {
      if (this.full) return;
      if (matches(line))
        this.add(`${path}:${index + 1}: ${showLine(line, this.limits.lineCharacters)}`);
    }
  }

  private add(row: string): void {
    this.bytes += byteLength(row) + 1;
    if (this.lines.length >= this.limits.results || this.bytes > this.limits.resultBytes) {
      this.full = true;
      return;
    }
    this.lines.push(row);
  }
}

function answer(
  pattern: string,
  path: string,
  rows: Rows,
  skipped: Skipped,
  limits: GrepLimits,
): ToolResult {
  const lines = [...rows.lines];
  if (lines.length === 0) lines.push(`No line below ${path} matches "${pattern}"`);
  if (rows.full) lines.push("[There are more matches. Narrow pattern, path or glob for the rest]");
  const left: string[] = [];
  if (skipped.tooLarge > 0) left.push(`${skipped.tooLarge} files over ${limits.fileBytes} bytes`);
  if (skipped.binary > 0) left.push(`${skipped.binary} binary files`);
  if (skipped.unreadable > 0) left.push(`${skipped.unreadable} files that could not be read`);
  if (skipped.overLimit > 0) {
    left.push(
      `${skipped.overLimit} files beyond ${limits.files} files or ${limits.totalBytes} bytes`,
    );
  }
  if (skipped.unlisted) left.push(`everything after the first ${limits.entries} files`);
  if (left.length > 0) lines.push(`[Not searched: ${left.join(", ")}]`);
  return success(lines.join("\n"));
}
