// The plans of the writing tools: written as JSON, read back and committed.

import type * as z from "zod";
import type { PlanResult, ToolResult } from "../loop/tool.ts";
import { failure, failureOf, isRefusal } from "./result.ts";

export function planned<T extends { op: string; path: string }>(plan: T): PlanResult {
  return { status: "planned", plan: JSON.stringify(plan) };
}

export function refused(result: ToolResult): PlanResult {
  return { status: "refused", result };
}

/**
 * Reads a plan back and carries it out with `run`. If that throws, the result says that the change may
 * or may not have been made. Never throws.
 */
export async function commitPlan<T extends { path: string }>(
  schema: z.ZodType<T>,
  plan: string,
  run: (plan: T) => Promise<ToolResult>,
): Promise<ToolResult> {
  const parsed = parsePlan(schema, plan);
  if (parsed === undefined)
    return failure("Nothing was changed: the plan of this call is unreadable");
  try {
    return await run(parsed);
  } catch (error) {
    const { path } = parsed;
    if (isRefusal(error)) return failure(`Nothing was changed at ${path}. ${error.message}`);
    return failureOf(error, `Changing ${path} (it may or may not have changed, Read it to see)`);
  }
}

function parsePlan<T>(schema: z.ZodType<T>, plan: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(plan)).data;
  } catch {
    return undefined;
  }
}
