import * as z from "zod";
import type { Receipt } from "../files/receipt.ts";
import { deleteFile, hasFilesBelow } from "../files/write-file.ts";
import type { PlanResult, ToolResult, WriteTool } from "../loop/tool.ts";
import { inputSchema, parseInput } from "./input.ts";
import { commitPlan, planned, refused } from "./plan.ts";
import { failure, failureOf, success } from "./result.ts";
import { sandboxFile, type ToolEnv } from "./sandbox.ts";

const schema = z.strictObject({
  file_path: z.string().describe("Absolute path of the file"),
});

const description = `Deletes one file. Directories are not deleted; an empty one goes with its last file.
- Refused if the file changes at the same moment.
- Remove what points to the file too, such as its line in an index.`;

const planSchema = z.strictObject({
  op: z.literal("delete"),
  path: z.string(),
  before: z.string(),
});
type Plan = z.infer<typeof planSchema>;

/** Deletes one file, conditional on the content that it had when the call was planned. */
export function createDeleteTool(env: ToolEnv): WriteTool {
  async function plan(input: unknown): Promise<PlanResult> {
    const parsed = parseInput(schema, "Delete", input);
    if (parsed.status === "refused") return parsed;
    const target = sandboxFile(env.mounts, parsed.input.file_path, "write");
    if (target.status === "refused") return refused(failure(target.message));
    const { path, mount, relative } = target;
    try {
      const entry = await mount.store.head(relative);
      if (entry !== undefined) {
        return planned({ op: "delete", path, before: entry.etag } satisfies Plan);
      }
      const directory = await hasFilesBelow(mount, relative);
      const reason = directory ? "it is a directory. Delete its files" : "there is no such file";
      return refused(failure(`Cannot delete ${path}: ${reason}`));
    } catch (error) {
      return refused(failureOf(error, `Deleting ${path}`));
    }
  }

  async function commit({ path, before }: Plan, resumed: boolean): Promise<ToolResult> {
    const target = sandboxFile(env.mounts, path, "write");
    if (target.status === "refused") return failure(target.message);
    const result = await deleteFile(target.mount, target.relative, { ifMatch: before });
    switch (result.status) {
      case "refused":
        return failure(result.message);
      case "conflict":
        return failure(`${path} was not deleted: it changed meanwhile. Read it and decide anew`);
      case "missing":
        // Without a crash somebody else deleted it, so it is no change of this call.
        return success(
          `${path} is deleted`,
          resumed ? [deleted(path, before, result.receipt)] : [],
        );
      case "deleted":
        return success(`Deleted ${path}`, [deleted(path, before, result.receipt)]);
    }
  }

  return {
    kind: "write",
    name: "Delete",
    description,
    input_schema: inputSchema(schema),
    plan,
    commit: (json, resumed) => commitPlan(planSchema, json, (plan) => commit(plan, resumed)),
  };
}

function deleted(path: string, etag: string, receipt: Receipt | undefined) {
  return { type: "changed", path, operation: "deleted", etag, receipt } as const;
}
