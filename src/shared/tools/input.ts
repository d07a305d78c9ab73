import * as z from "zod";
import type { ToolResult } from "../loop/tool.ts";
import { whereHalved } from "../text/unreadable.ts";
import { failure } from "./result.ts";

/** Text from a model, without lone surrogates: they cannot be stored as UTF-8. */
export const text = z.string().refine((value) => value.isWellFormed(), {
  error: ({ input }) =>
    `holds half a character (a lone surrogate) at ${whereHalved(String(input))}. Take it out`,
});

const made = new WeakMap<z.ZodType, Record<string, unknown>>();

/** The JSON schema that the model sees; made once, since a turn asks for all of them. */
export function inputSchema(schema: z.ZodType): Record<string, unknown> {
  const known = made.get(schema);
  if (known) return known;
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  made.set(schema, rest);
  return rest;
}

/** The parsed input, or an error result that names each wrong field. */
export function parseInput<T>(
  schema: z.ZodType<T>,
  tool: string,
  input: unknown,
): { status: "parsed"; input: T } | { status: "refused"; result: ToolResult } {
  const parsed = schema.safeParse(input);
  if (parsed.success) return { status: "parsed", input: parsed.data };
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.length === 0 ? "the input" : issue.path.join(".");
    return `${field}: ${issue.message}`;
  });
  return {
    status: "refused",
    result: failure(`Invalid input for ${tool}. ${problems.join("; ")}`),
  };
}
