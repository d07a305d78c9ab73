import * as z from "zod";
import type { StoredFile } from "../files/store.ts";
import { hasFilesBelow } from "../files/write-file.ts";
import { READ_BYTES, READ_LINES, TOOL_LINE_CHARACTERS } from "../limits/tools.ts";
import type { ReadTool, ToolResult } from "../loop/tool.ts";
import { byteLength } from "../text/bytes.ts";
import { decodeText, linesOf, showLine } from "../text/decode.ts";
import { inputSchema, parseInput } from "./input.ts";
import { failure, failureOf, success } from "./result.ts";
import { sandboxFile, type ToolEnv } from "./sandbox.ts";

const schema = z.strictObject({
  file_path: z.string().describe("Absolute path of the file"),
  offset: z.int().min(1).optional().describe("First line to show, counted from 1"),
  limit: z.int().min(1).optional().describe(`Lines to show at most; ${READ_LINES} if left out`),
});

const description = `Shows a text file with its line numbers: each line is the number, a tab, then the text.
- file_path is absolute. For directories use Glob, to search inside files use Grep.
- At most ${READ_LINES} lines come at once; for the rest call again with offset. Lines over ${TOOL_LINE_CHARACTERS} characters are cut and marked.
- The line number and the tab are not part of the file: leave them out of Edit's old_string.
- Read a file before you Write over it.`;

interface ReadLimits {
  lines: number;
  /** UTF-8 bytes of one result. */
  bytes: number;
  lineCharacters: number;
}

const LIMITS: ReadLimits = {
  lines: READ_LINES,
  bytes: READ_BYTES,
  lineCharacters: TOOL_LINE_CHARACTERS,
};

/** Shows a file. If all of it is shown, a note says that the model knows its content. */
export function createReadTool(env: ToolEnv, limits: ReadLimits = LIMITS): ReadTool {
  async function run(input: unknown): Promise<ToolResult> {
    const parsed = parseInput(schema, "Read", input);
    if (parsed.status === "refused") return parsed.result;
    const { file_path, offset = 1, limit = limits.lines } = parsed.input;
    const target = sandboxFile(env.mounts, file_path, "read");
    if (target.status === "refused") return failure(target.message);
    const { path, mount, relative } = target;
    try {
      const file = await mount.store.get(relative);
      if (file === undefined) {
        if (await hasFilesBelow(mount, relative)) {
          return failure(
            `Cannot read ${path}: it is a directory. Glob with path "${path}" lists it`,
          );
        }
        return failure(`Cannot read ${path}: there is no such file. Glob lists what there is`);
      }
      const shown = show(path, file, offset, { ...limits, lines: Math.min(limit, limits.lines) });
      // Not after a part of it: a Write would destroy lines that the model has not seen. The note comes
      // with the result, since a read may be discarded before the model sees it.
      if (shown.result.isError || !shown.whole) return shown.result;
      return { ...shown.result, notes: [{ type: "seen", path, etag: file.etag }] };
    } catch (error) {
      return failureOf(error, `Reading ${path}`);
    }
  }
  return { kind: "read", name: "Read", description, input_schema: inputSchema(schema), run };
}

interface Shown {
  result: ToolResult;
  /** All of the file is shown. */
  whole: boolean;
}

function show(path: string, file: StoredFile, offset: number, limits: ReadLimits): Shown {
  const failed = (message: string): Shown => ({ result: failure(message), whole: false });
  if (file.bytes.length !== file.size) {
    return failed(`Cannot read ${path}: the storage gave only part of it. Try again`);
  }
  const text = decodeText(file.bytes);
  if (text === undefined) {
    return failed(`Cannot read ${path}: it is a binary file of ${file.size} bytes, not UTF-8 text`);
  }
  const lines = linesOf(text);
  if (lines.length === 0) return { result: success("(empty file)"), whole: true };
  if (offset > lines.length) {
    return failed(`Cannot read ${path} from line ${offset}: it has ${lines.length} lines`);
  }
  const shown: string[] = [];
  let bytes = 0;
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limits.lines).entries()) {
    const row = `${String(offset + index).padStart(6)}\t${showLine(line, limits.lineCharacters)}`;
    bytes += byteLength(row) + 1;
    // The first line is always shown, so that a reader with an offset makes progress.
    if (bytes > limits.bytes && shown.length > 0) break;
    shown.push(row);
  }
  const last = offset - 1 + shown.length;
  const cut = lines.some((line) => line.length > limits.lineCharacters);
  const whole = offset === 1 && last === lines.length && !cut;
  if (last < lines.length) {
    shown.push(
      `[Lines ${offset} to ${last} of ${lines.length} are shown. Go on with offset ${last + 1}]`,
    );
  }
  return { result: success(shown.join("\n")), whole };
}
