import * as z from "zod";
import type { Receipt } from "../files/receipt.ts";
import type { Precondition, StoredFile } from "../files/store.ts";
import { checkWrite, writeFile } from "../files/write-file.ts";
import type { PlanResult, ToolResult, WriteTool } from "../loop/tool.ts";
import { inputSchema, parseInput, text } from "./input.ts";
import { commitPlan, planned, refused } from "./plan.ts";
import { failure, failureOf, success, withWarning } from "./result.ts";
import { sandboxFile, type ToolEnv } from "./sandbox.ts";

const schema = z.strictObject({
  file_path: z.string().describe("Absolute path of the file"),
  content: text.describe("The whole new content"),
});

const description = `Stores a whole file: makes a new one, or replaces everything that an existing one holds.
- Read an existing file first; if it has changed since, this is refused and you Read it again.
- To change a part of a file use Edit: it is shorter and keeps what others wrote meanwhile.
- Directories come into being with their files.`;

const planSchema = z.strictObject({
  op: z.literal("write"),
  path: z.string(),
  before: z.string().nullable(),
  content: z.string(),
});
type Plan = z.infer<typeof planSchema>;

const encoder = new TextEncoder();

/** Creates or replaces a file, conditional on the content that the model knows. */
export function createWriteTool(env: ToolEnv): WriteTool {
  async function plan(input: unknown): Promise<PlanResult> {
    const parsed = parseInput(schema, "Write", input);
    if (parsed.status === "refused") return parsed;
    const { file_path, content } = parsed.input;
    const target = sandboxFile(env.mounts, file_path, "write");
    if (target.status === "refused") return refused(failure(target.message));
    const { path, mount, relative } = target;
    const bytes = encoder.encode(content);
    const refusal = checkWrite(mount, relative, bytes.length);
    if (refusal !== undefined) return refused(failure(refusal.message));
    try {
      const current = await mount.store.get(relative);
      const plan = { op: "write" as const, path, content };
      if (current === undefined) return planned({ ...plan, before: null });
      if (hasContent(current, bytes)) {
        const notes = [{ type: "seen" as const, path, etag: current.etag }];
        return refused(success(`${path} already holds exactly this; nothing to do`, notes));
      }
      const known = env.seen.get(path);
      if (known === current.etag) return planned({ ...plan, before: current.etag });
      const reason = known === undefined ? "it exists. Read it first, all of it" : CHANGED;
      return refused(failure(`Cannot write ${path}: ${reason}, or use Edit for a part of it`));
    } catch (error) {
      return refused(failureOf(error, `Writing ${path}`));
    }
  }

  async function commit(plan: Plan, resumed: boolean): Promise<ToolResult> {
    const { path, before, content } = plan;
    const target = sandboxFile(env.mounts, path, "write");
    if (target.status === "refused") return failure(target.message);
    const { mount, relative } = target;
    const bytes = encoder.encode(content);
    const precondition: Precondition = before === null ? { ifAbsent: true } : { ifMatch: before };
    const result = await writeFile(mount, relative, bytes, precondition);
    if (result.status === "refused") return failure(result.message);
    if (result.status === "written") {
      const { entry, receipt, warning } = result;
      return withWarning(writtenResult(plan, bytes.length, entry.etag, receipt), warning);
    }
    // A resumed commit may find its own write: the planned content is there already.
    const current = resumed ? await mount.store.get(relative) : undefined;
    if (current !== undefined && hasContent(current, bytes)) {
      return writtenResult(plan, bytes.length, current.etag, current.receipt);
    }
    return failure(
      `Nothing was written to ${path}: it changed meanwhile. Read it again and decide anew`,
    );
  }

  function writtenResult(
    { path, before }: Plan,
    size: number,
    etag: string,
    receipt: Receipt | undefined,
  ): ToolResult {
    const operation = before === null ? "created" : "modified";
    const known = env.seen.get(path);
    const wasDeleted = before === null && known !== undefined && known !== etag;
    const what = `${before === null ? "Created" : "Replaced"} ${path}: ${size} bytes`;
    return success(wasDeleted ? `${what} (the file you knew had been deleted)` : what, [
      { type: "changed", path, operation, etag, receipt },
      { type: "seen", path, etag },
    ]);
  }

  return {
    kind: "write",
    name: "Write",
    description,
    input_schema: inputSchema(schema),
    plan,
    commit: (json, resumed) => commitPlan(planSchema, json, (plan) => commit(plan, resumed)),
  };
}

const CHANGED = "it changed since you read it. Read it again";

function hasContent(file: StoredFile, bytes: Uint8Array): boolean {
  if (file.size !== bytes.length || file.bytes.length !== bytes.length) return false;
  return file.bytes.every((byte, index) => byte === bytes[index]);
}
