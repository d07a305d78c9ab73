import * as z from "zod";
import { listFiles, type MountedFile, relativeTo } from "../files/mounts.ts";
import { GLOB_RESULTS, WALK_ENTRIES } from "../limits/tools.ts";
import type { ReadTool, ToolResult } from "../loop/tool.ts";
import { compileGlob, literalDirectory } from "../text/glob-pattern.ts";
import { inputSchema, parseInput } from "./input.ts";
import { nextTask, PACE_LIMITS, Pace, type PaceLimits, type Pause } from "./pace.ts";
import { failure, failureOf, success } from "./result.ts";
import { existsEmpty, sandboxDirectory, type ToolEnv } from "./sandbox.ts";

const schema = z.strictObject({
  pattern: z.string().describe('Such as "**/*.md", "notes/*.{md,txt}" or "MEMORY.md"'),
  path: z.string().optional().describe("Absolute directory to look in; everywhere if left out"),
});

const description = `Finds files by name and lists their paths, newest first.
- * and ? stay within one folder, ** goes down any number of folders, [abc] and {a,b} choose.
- A pattern without a slash matches file names at any depth; with one, the path below path (or below any of your directories).
- At most ${GLOB_RESULTS} paths come back. To look inside files use Grep.`;

interface GlobLimits {
  results: number;
  /** Files that the walk visits. */
  entries: number;
  /** Steps of the pattern. */
  pace: PaceLimits;
}

const LIMITS: GlobLimits = { results: GLOB_RESULTS, entries: WALK_ENTRIES, pace: PACE_LIMITS };

interface Found {
  files: MountedFile[];
  visited: number;
  /** Files whose paths are too long for the pattern. */
  tooLong: number;
  /** The steps of the call were used up before the end. */
  exhausted: boolean;
}

/** Lists files by a glob over their paths; `pause` as in Grep. */
export function createGlobTool(
  env: ToolEnv,
  limits: GlobLimits = LIMITS,
  pause: Pause = nextTask,
): ReadTool {
  async function run(input: unknown, signal: AbortSignal): Promise<ToolResult> {
    const parsed = parseInput(schema, "Glob", input);
    if (parsed.status === "refused") return parsed.result;
    const { pattern } = parsed.input;
    const isAbsolute = pattern.startsWith("/");
    const glob = compileGlob(isAbsolute ? pattern.slice(1) : pattern, { anchored: isAbsolute });
    if (glob.status === "refused") return failure(glob.message);
    const start = parsed.input.path ?? (isAbsolute ? literalDirectory(pattern) || "/" : "/");
    const target = sandboxDirectory(env.mounts, start);
    if (target.status === "refused") return failure(target.message);
    const namesOf = namesFor(isAbsolute ? "/" : parsed.input.path && target.path);
    try {
      const found: Found = { files: [], visited: 0, tooLong: 0, exhausted: false };
      const pace = new Pace(limits.pace, pause);
      for await (const file of listFiles(env.mounts, target.path, limits.entries + 1)) {
        const names = namesOf(file);
        const pausing = pace.before(glob.steps(names));
        if (pausing) await pausing;
        if (signal.aborted) return failure("Glob was stopped before it ended");
        found.exhausted = pace.exhausted;
        if (found.exhausted) break;
        found.visited += 1;
        if (found.visited > limits.entries) break;
        if (names.some((name) => glob.matches(name))) found.files.push(file);
        else if (names.some((name) => glob.isTooLong(name))) found.tooLong += 1;
      }
      if (found.visited === 0 && !found.exhausted && !existsEmpty(env.mounts, target.path)) {
        return failure(`Cannot look in ${target.path}: there is no such directory`);
      }
      return globResult(pattern, target.path, found, limits);
    } catch (error) {
      return failureOf(error, `Glob in ${target.path}`);
    }
  }
  return { kind: "read", name: "Glob", description, input_schema: inputSchema(schema), run };
}

/** The paths that the pattern is matched with: below `base`, or in the mount and from the root. */
function namesFor(base: string | undefined): (file: MountedFile) => string[] {
  if (base !== undefined) return ({ path }) => [relativeTo(base, path)];
  return ({ path, relative }) => [relative, relativeTo("/", path)];
}

function globResult(
  pattern: string,
  path: string,
  { files, visited, tooLong, exhausted }: Found,
  limits: GlobLimits,
): ToolResult {
  files.sort((a, b) => b.entry.modified - a.entry.modified || (a.path < b.path ? -1 : 1));
  const lines = files.slice(0, limits.results).map((file) => file.path);
  if (lines.length === 0) lines.push(`No file below ${path} matches "${pattern}"`);
  if (files.length > limits.results) {
    lines.push(
      `[${limits.results} of ${files.length} are shown. Narrow pattern or path for the rest]`,
    );
  }
  if (visited > limits.entries) {
    lines.push(`[Only the first ${limits.entries} files were looked at. Narrow path for the rest]`);
  }
  if (tooLong > 0) {
    lines.push(
      `[${tooLong} files were not looked at: their paths are too long for this pattern. Simplify it]`,
    );
  }
  if (exhausted) {
    lines.push(
      `[Only the first ${visited} files were looked at: the pattern is too slow. Simplify it or narrow path]`,
    );
  }
  return success(lines.join("\n"));
}
