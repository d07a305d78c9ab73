// The decision on a call by the session's permission mode. It uses the canonical path, as the sandbox
// does: a path that only looks like memory is not memory.

import * as z from "zod";
import type { Permission } from "../loop/pending-action.ts";
import type { Tool, WriteTool } from "../loop/tool.ts";
import { canonicalPath, isWithin, showPath } from "../safety/path.ts";
import { refused } from "./plan.ts";
import { failure } from "./result.ts";

/** `ask` and `read_only` concern changes outside the agent's own memory; reading is always allowed. */
export const permissionMode = z.enum(
  ["accept_edits", "ask", "read_only"],
  'is none of "accept_edits", "ask", "read_only"',
);
export type PermissionMode = z.infer<typeof permissionMode>;

export interface PermissionRules {
  mode: PermissionMode;
  /** Canonical path of the agent's own memory; undefined if it has none. */
  memory: string | undefined;
}

/** The decision on a call of this tool before it runs; `deny` if there is no such tool. */
export function permissionOf(
  tool: Tool | undefined,
  input: Record<string, unknown>,
  rules: PermissionRules,
): Permission {
  if (!tool) return "deny";
  if (tool.kind === "client") return "client";
  if (tool.kind === "read" || rules.mode === "accept_edits") return "allow";
  if (isOwnMemory(input.file_path, rules.memory)) return "allow";
  return rules.mode === "ask" ? "ask" : "deny";
}

/** The same tools, whose `plan` refuses what the mode denies. */
export function permittedTools(tools: readonly Tool[], rules: PermissionRules): Tool[] {
  return tools.map((tool) => (tool.kind === "write" ? guarded(tool, rules) : tool));
}

function guarded(tool: WriteTool, rules: PermissionRules): WriteTool {
  return {
    ...tool,
    async plan(input, signal) {
      const fields: Record<string, unknown> = { ...Object(input) };
      if (permissionOf(tool, fields, rules) !== "deny") return tool.plan(input, signal);
      const path = typeof fields.file_path === "string" ? ` ${showPath(fields.file_path)}` : "";
      const memory = rules.memory === undefined ? "" : ` but its memory, ${rules.memory}`;
      return refused(
        failure(
          `Refused: this session is read-only, so ${tool.name} did not change${path || " anything"}; nothing${memory} may be changed. Tell the user what you would change, and go on without it`,
        ),
      );
    },
  };
}

/** Whether a path is a file below the memory directory; one that the sandbox refuses is not. */
function isOwnMemory(path: unknown, memory: string | undefined): boolean {
  if (typeof path !== "string" || memory === undefined) return false;
  const canonical = canonicalPath(path);
  return canonical.status === "ok" && canonical.path !== memory && isWithin(memory, canonical.path);
}
