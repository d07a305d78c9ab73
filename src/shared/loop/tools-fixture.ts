// Tools that keep count of what they did, and some that break their promises.

import type { ReadTool, Tool, ToolResult, WriteTool } from "./tool.ts";

/** `Read` and `Write` as they should be, and four that break their promises. */
export function createTools(effects: string[], log: string[]): Tool[] {
  const done = new Set<string>();
  return [
    readTool("Read", async (input) => {
      log.push(`read ${keyOf(input)}`);
      await ticks();
      return ok(`content of ${keyOf(input)}`);
    }),
    readTool("Reject", () => Promise.reject(new Error("secret detail"))),
    readTool("Throw", () => {
      throw new Error("secret detail");
    }),
    writeTool("Write", {
      plan: async (input) => {
        log.push(`plan ${keyOf(input)}`);
        await ticks();
        return { status: "planned", plan: keyOf(input) };
      },
      commit: async (plan, resumed) => {
        await ticks();
        log.push(`commit ${plan}`);
        // Only a resumed commit looks for its own work: done twice is counted twice.
        if (!resumed || !done.has(plan)) effects.push(plan);
        done.add(plan);
        return ok(`wrote ${plan}`);
      },
    }),
    writeTool("Refuse", {
      plan: async () => ({ status: "refused", result: { ...ok("refused"), isError: true } }),
    }),
    writeTool("BadPlan", { plan: () => Promise.reject(new Error("secret detail")) }),
    writeTool("BadCommit", {
      commit: () => {
        throw new Error("secret detail");
      },
    }),
  ];
}

export function readTool(name: string, run: ReadTool["run"]): ReadTool {
  return { kind: "read", name, description: name, input_schema: {}, run };
}

export function writeTool(name: string, parts: Partial<WriteTool>): WriteTool {
  return {
    kind: "write",
    name,
    description: name,
    input_schema: {},
    plan: async (input) => ({ status: "planned", plan: keyOf(input) }),
    commit: async (plan) => ok(`wrote ${plan}`),
    ...parts,
  };
}

export function keyOf(input: unknown): string {
  if (typeof input !== "object" || input === null || !("key" in input)) return "?";
  return String(input.key);
}

export function ok(content: string): ToolResult {
  return { content, isError: false, notes: [] };
}

/** Lets everything go on that waits for nothing from outside. */
export async function ticks(): Promise<void> {
  for (let n = 0; n < 4; n += 1) await Promise.resolve();
}
