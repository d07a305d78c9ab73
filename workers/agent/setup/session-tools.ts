// The tools of a session: the agent's own, then the client's, always the same and in the same order.

import type { ClientTool, Tool } from "../../../src/shared/loop/tool.ts";
import { createFileTools } from "../../../src/shared/tools/file-tools.ts";
import type { PermissionRules } from "../../../src/shared/tools/permission.ts";
import { permittedTools } from "../../../src/shared/tools/permission.ts";
import type { ToolEnv } from "../../../src/shared/tools/sandbox.ts";
import type { Meta } from "../rows/meta.ts";

/** What the session's mode is and what it is not about. */
export function permissionRules(meta: Pick<Meta, "permissionMode" | "memory">): PermissionRules {
  const { permissionMode: mode, memory } = meta;
  return { mode, memory: memory.enabled ? memory.directory : undefined };
}

/** All tools of a session's turns; what the mode denies is refused at the call. */
export function sessionTools(
  env: ToolEnv,
  meta: Pick<Meta, "permissionMode" | "memory" | "clientTools">,
): Tool[] {
  return [...permittedTools(createFileTools(env), permissionRules(meta)), ...clientTools(meta)];
}

/** The tools that the client runs. A fork that calls one is refused: nobody waits for it. */
export function clientTools({ clientTools }: Pick<Meta, "clientTools">): ClientTool[] {
  return clientTools.map((tool) => ({ kind: "client", ...tool }));
}
