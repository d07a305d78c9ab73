import * as z from "zod";
import { sha256Hex } from "../files/digest.ts";
import type { Receipt } from "../files/receipt.ts";
import type { FileEntry, StoredFile } from "../files/store.ts";
import { checkWrite, hasFilesBelow, writeFile } from "../files/write-file.ts";
import { EDIT_ATTEMPTS } from "../limits/tools.ts";
import type { PlanResult, ToolResult, WriteTool } from "../loop/tool.ts";
import { decodeText } from "../text/decode.ts";
import { inputSchema, parseInput, text } from "./input.ts";
import { commitPlan, planned, refused } from "./plan.ts";
import { MOST_MATCHES, replaceText } from "./replace-text.ts";
import { failure, failureOf, success, withWarning } from "./result.ts";
import { type SandboxedFile, sandboxFile, type ToolEnv } from "./sandbox.ts";

const schema = z.strictObject({
  file_path: z.string().describe("Absolute path of the file"),
  old_string: text.describe("The text to replace, exactly as the file has it"),
  new_string: text.default("").describe("The text that takes its place; left out, it is deleted"),
  replace_all: z.boolean().default(false).describe("Replace every occurrence"),
});

const description = `Replaces one piece of text in a file and leaves the rest as it is.
- old_string must occur exactly once, whitespace and all, without the line numbers of Read. It may span lines. If it occurs more often, add lines around it, or set replace_all.
- The change is made on the file as it is now: what others wrote elsewhere in it survives.
- To make a new file, or to replace a whole one, use Write.`;

// The plan contains the hash of the new content: a workspace file may be larger than a row.
const planSchema = z.strictObject({
  op: z.literal("edit"),
  path: z.string(),
  before: z.string(),
  after: z.string(),
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean(),
});
type Plan = z.infer<typeof planSchema>;
type Change = Pick<Plan, "path" | "old_string" | "new_string" | "replace_all">;
type Target = Extract<SandboxedFile, { status: "file" }>;

type Edited =
  | { status: "edited"; before: string; bytes: Uint8Array; count: number }
  | { status: "failed"; result: ToolResult };

/** Replaces text in the file as it is now. Each put is conditional on the content just read. */
export function createEditTool(env: ToolEnv): WriteTool {
  async function plan(input: unknown): Promise<PlanResult> {
    const parsed = parseInput(schema, "Edit", input);
    if (parsed.status === "refused") return parsed;
    const { file_path, old_string, new_string, replace_all } = parsed.input;
    const target = sandboxFile(env.mounts, file_path, "write");
    if (target.status === "refused") return refused(failure(target.message));
    const { path } = target;
    if (old_string === "") {
      return refused(
        failure(`Cannot edit ${path}: old_string is empty. To write a file use Write`),
      );
    }
    if (old_string === new_string) {
      return refused(failure(`Cannot edit ${path}: old_string and new_string are the same`));
    }
    try {
      const change = { path, old_string, new_string, replace_all };
      const edited = await editCurrent(target, change);
      if (edited.status === "failed") return refused(edited.result);
      const { before, bytes } = edited;
      const after = await sha256Hex(bytes);
      return planned({ op: "edit", before, after, ...change } satisfies Plan);
    } catch (error) {
      return refused(failureOf(error, `Editing ${path}`));
    }
  }

  /**
   * Applies the change to the present content. After a conflict our put did not happen, so applying the
   * change again, to the newer content, cannot apply it twice.
   */
  async function commit(plan: Plan): Promise<ToolResult> {
    const target = sandboxFile(env.mounts, plan.path, "write");
    if (target.status === "refused") return failure(target.message);
    for (let attempt = 1; attempt <= EDIT_ATTEMPTS; attempt += 1) {
      const edited = await editCurrent(target, plan);
      if (edited.status === "failed") return edited.result;
      const result = await storeEdited(target, edited);
      if (result !== undefined) return result;
    }
    return failure(`${plan.path} was not edited: others keep changing it. Read it and try again`);
  }

  /** After a crash the change may have been made. It is made only if it certainly was not. */
  async function resume(plan: Plan): Promise<ToolResult> {
    const target = sandboxFile(env.mounts, plan.path, "write");
    if (target.status === "refused") return failure(target.message);
    const current = await target.mount.store.get(target.relative);
    if (current !== undefined) {
      if ((await sha256Hex(current.bytes)) === plan.after) {
        return editedResult(plan.path, plan.before, current, "as asked", current.receipt);
      }
      if (current.etag === plan.before) {
        const edited = edit(target, plan, current);
        if (edited.status === "failed") return edited.result;
        const result = await storeEdited(target, edited);
        if (result !== undefined) return result;
      }
    }
    return failure(
      `The edit of ${plan.path} may or may not have been made: it was interrupted, and the file ` +
        "has changed since. Read it and look",
    );
  }

  /** Undefined if the file changed between the read and the put, which then did not happen. */
  async function storeEdited(
    { path, mount, relative }: Target,
    { before, bytes, count }: Extract<Edited, { status: "edited" }>,
  ): Promise<ToolResult | undefined> {
    const result = await writeFile(mount, relative, bytes, { ifMatch: before });
    if (result.status === "conflict") return undefined;
    if (result.status === "refused") return failure(result.message);
    const what = `${count} replacement${count === 1 ? "" : "s"}`;
    const edited = editedResult(path, before, result.entry, what, result.receipt);
    return withWarning(edited, result.warning);
  }

  function editedResult(
    path: string,
    before: string,
    { etag, size }: FileEntry,
    what: string,
    receipt: Receipt | undefined,
  ): ToolResult {
    const result = success(`Edited ${path}: ${what}, now ${size} bytes`, [
      { type: "changed", path, operation: "modified", etag, receipt },
    ]);
    // If the model did not know the whole file before, a later Write could undo what others wrote.
    if (env.seen.get(path) !== before) return result;
    return { ...result, notes: [...result.notes, { type: "seen", path, etag }] };
  }

  return {
    kind: "write",
    name: "Edit",
    description,
    input_schema: inputSchema(schema),
    plan,
    commit: (json, resumed) => commitPlan(planSchema, json, resumed ? resume : commit),
  };
}

async function editCurrent(target: Target, change: Change): Promise<Edited> {
  const { path, mount, relative } = target;
  const file = await mount.store.get(relative);
  if (file !== undefined) return edit(target, change, file);
  if (await hasFilesBelow(mount, relative)) return failed(`Cannot edit ${path}: it is a directory`);
  return failed(`Cannot edit ${path}: there is no such file. Write makes a new one`);
}

function edit({ path, mount, relative }: Target, change: Change, file: StoredFile): Edited {
  if (!isWhole(file)) {
    return failed(`Nothing was edited in ${path}: the storage gave only part of it. Try again`);
  }
  const content = decodeText(file.bytes);
  if (content === undefined)
    return failed(`Cannot edit ${path}: it is a binary file, not UTF-8 text`);
  const { old_string, new_string, replace_all } = change;
  const replaced = replaceText(content, old_string, new_string, replace_all);
  if (replaced.status === "missing") {
    return failed(
      `Nothing was edited in ${path}: old_string is not in it. Read it for its exact text`,
    );
  }
  if (replaced.status === "ambiguous") {
    const count = replaced.count < MOST_MATCHES ? replaced.count : `at least ${MOST_MATCHES}`;
    return failed(
      `Nothing was edited in ${path}: old_string has ${count} matches and must have one. Add the ` +
        "lines around it, or set replace_all",
    );
  }
  const bytes = new TextEncoder().encode(replaced.text);
  const refusal = checkWrite(mount, relative, bytes.length);
  if (refusal !== undefined) return failed(refusal.message);
  return { status: "edited", before: file.etag, bytes, count: replaced.count };
}

/** An edit of a partial read would delete the rest. */
function isWhole(file: StoredFile): boolean {
  return file.bytes.length === file.size;
}

function failed(message: string): Edited {
  return { status: "failed", result: failure(message) };
}
