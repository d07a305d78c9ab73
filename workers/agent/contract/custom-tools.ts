// The `tools` of `agent_with_overrides`: tools that the client runs, beside the agent's own, which every
// session has.

import * as z from "zod";
import { plainInput } from "../../../src/platform/threads/calls.ts";
import {
  CUSTOM_TOOL_DESCRIPTION_CHARACTERS,
  CUSTOM_TOOLS,
  CUSTOM_TOOLS_BYTES,
} from "../../../src/shared/limits/tools.ts";
import { byteLength } from "../../../src/shared/text/bytes.ts";

/** Names of the agent's own tools, of now and of later: a client's tool takes none of them. */
const OWN_NAMES = ["Read", "Write", "Edit", "Delete", "Glob", "Grep", "Agent", "SendMessage"];

const name = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,128}$/, "is not 1 to 128 letters, digits, underscores and hyphens")
  .refine(
    (name) => !OWN_NAMES.some((own) => own.toLowerCase() === name.toLowerCase()),
    `is one of the agent's own: ${OWN_NAMES.join(", ")}. Choose another`,
  );

/** Kept as it came: the model gets the same bytes. */
const inputSchema = plainInput.superRefine((schema, context) => {
  const problem = (path: string, message: string) =>
    context.addIssue({ code: "custom", path: [path], message });
  if (schema.type !== "object") problem("type", 'is not "object"; a tool takes an object');
  const { properties, required } = schema;
  if (
    properties !== undefined &&
    properties !== null &&
    !plainInput.safeParse(properties).success
  ) {
    problem("properties", "is not an object");
  }
  if (
    required !== undefined &&
    required !== null &&
    !(Array.isArray(required) && required.every((one) => typeof one === "string"))
  ) {
    problem("required", "is not a list of names");
  }
});

const customTool = z.strictObject({
  type: z.literal("custom"),
  name,
  description: z
    .string()
    .max(
      CUSTOM_TOOL_DESCRIPTION_CHARACTERS,
      `is longer than ${CUSTOM_TOOL_DESCRIPTION_CHARACTERS} characters`,
    )
    .refine((text) => text.trim() !== "", "is empty; say what the tool does and when to use it"),
  input_schema: inputSchema,
});

const policy = z.strictObject({
  type: z.enum(
    ["always_allow", "always_ask"],
    'is neither "always_allow" nor "always_ask"; other policies are not supported',
  ),
});

/** The agent's own tools as a whole: no single one can be left out or configured. */
const toolset = z.strictObject({
  type: z.literal("agent_toolset_20260401"),
  configs: z
    .tuple([], "is not empty: the agent's own tools are always all there. Leave it out")
    .optional(),
  default_config: z
    .strictObject({
      enabled: z
        .literal(true, "is not true: the agent's own tools are always there")
        .nullable()
        .optional(),
      permission_policy: policy.nullable().optional(),
    })
    .nullable()
    .optional(),
});

const entry = z.discriminatedUnion("type", [customTool, toolset], {
  error: 'type: is neither "custom" nor "agent_toolset_20260401"',
});
type Entry = z.infer<typeof entry>;

/** The tools of a session's creation, checked one by one and together. */
export const agentTools = z
  .array(entry)
  .max(CUSTOM_TOOLS + 1, `holds more than ${CUSTOM_TOOLS} tools`)
  .superRefine((tools, context) => {
    const seen = new Set<string>();
    for (const [index, tool] of tools.entries()) {
      const key = tool.type === "custom" ? tool.name : tool.type;
      const path = tool.type === "custom" ? [index, "name"] : [index];
      if (seen.has(key)) {
        context.addIssue({ code: "custom", path, message: "is there twice; names are unique" });
      }
      seen.add(key);
    }
    const custom = customTools(tools);
    if (custom.length > CUSTOM_TOOLS) {
      context.addIssue({ code: "custom", message: `holds more than ${CUSTOM_TOOLS} tools` });
    }
    const bytes = byteLength(JSON.stringify(custom));
    if (bytes > CUSTOM_TOOLS_BYTES) {
      context.addIssue({
        code: "custom",
        message: `is ${bytes} bytes of JSON, more than the ${CUSTOM_TOOLS_BYTES} that all tools together may have. Shorten descriptions and schemas`,
      });
    }
  });

/** Tools as a session keeps them. */
export const keptTool = z.object({
  name: z.string(),
  description: z.string(),
  input_schema: plainInput,
});

/** The client's own tools, without what every session has. */
export function customTools(tools: readonly Entry[]): z.infer<typeof keptTool>[] {
  return tools.flatMap((tool) => {
    if (tool.type !== "custom") return [];
    const { name, description, input_schema } = tool;
    return [{ name, description, input_schema }];
  });
}

/** The policy that the toolset's entry asks for; undefined where it asks for none. */
export function toolsetPolicy(tools: readonly Entry[]): "always_allow" | "always_ask" | undefined {
  const found = tools.find((tool) => tool.type === "agent_toolset_20260401");
  return found?.default_config?.permission_policy?.type;
}
