import type { Tool } from "../loop/tool.ts";
import { createDeleteTool } from "./delete.ts";
import { createEditTool } from "./edit.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { createReadTool } from "./read.ts";
import type { ToolEnv } from "./sandbox.ts";
import { createWriteTool } from "./write.ts";

/** The file tools, always in this order: the prompt cache depends on it. */
export function createFileTools(env: ToolEnv): Tool[] {
  return [
    createReadTool(env),
    createWriteTool(env),
    createEditTool(env),
    createDeleteTool(env),
    createGlobTool(env),
    createGrepTool(env),
  ];
}
