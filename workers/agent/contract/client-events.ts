// The events that a client may send: the strict door in front of the log, with texts for people. What
// it lets in is stored as it is, in the shapes of `src/shared/events/user.ts`.

import * as z from "zod";
import { CUSTOM_RESULT_BLOCKS, DENY_MESSAGE_CHARACTERS } from "../../../src/shared/limits/tools.ts";

const textBlock = z.strictObject({
  type: z.literal("text", "only text blocks are supported"),
  text: z.string(),
});

const saidBlock = textBlock.extend({
  text: z.string().refine((text) => text.trim() !== "", "is empty; send at least one character"),
});

const userMessage = z.strictObject({
  type: z.literal("user.message"),
  content: z.array(saidBlock).min(1, "is empty; send at least one text block").max(100),
});

const userInterrupt = z.strictObject({
  type: z.literal("user.interrupt"),
  session_thread_id: z.null().optional(),
});

const eventId = z.string().min(1, "is empty; send the id of the event that waits").max(100);

const toolConfirmation = z
  .strictObject({
    type: z.literal("user.tool_confirmation"),
    tool_use_id: eventId,
    result: z.enum(["allow", "deny"], 'is neither "allow" nor "deny"'),
    deny_message: z
      .string()
      .max(DENY_MESSAGE_CHARACTERS, `is longer than ${DENY_MESSAGE_CHARACTERS} characters`)
      .nullable()
      .optional(),
  })
  .refine(({ result, deny_message }) => result === "deny" || !deny_message, {
    path: ["deny_message"],
    message: 'goes with the result "deny" only',
  });

const customToolResult = z.strictObject({
  type: z.literal("user.custom_tool_result"),
  custom_tool_use_id: eventId,
  /** Unlike what a person says, a result may hold nothing. */
  content: z
    .array(textBlock)
    .max(CUSTOM_RESULT_BLOCKS, `holds more than ${CUSTOM_RESULT_BLOCKS} blocks`)
    .optional(),
  is_error: z.boolean().nullable().optional(),
});

const INITIAL = [userMessage, userInterrupt] as const;
const ALL = [...INITIAL, toolConfirmation, customToolResult] as const;
const INITIAL_TYPES: readonly string[] = INITIAL.map(({ shape }) => shape.type.value);
const ALL_TYPES: readonly string[] = ALL.map(({ shape }) => shape.type.value);
/** The original's types that this service does not take yet. */
const UNSUPPORTED_TYPES = ["user.define_outcome", "system.message"];

/** An event that a session may begin with: answers have nothing to answer yet. */
export const initialEvent = z.discriminatedUnion("type", INITIAL, {
  error: (issue) => eventTypeProblem(issue.input, INITIAL_TYPES),
});

export const clientEvent = z.discriminatedUnion("type", ALL, {
  error: (issue) => eventTypeProblem(issue.input, ALL_TYPES),
});

export type ClientEvent = z.infer<typeof clientEvent>;

function eventTypeProblem(input: unknown, types: readonly string[]): string {
  const type: unknown =
    typeof input === "object" && input && "type" in input ? input.type : undefined;
  if (typeof type !== "string") return "is missing; an event needs a type";
  const there = `There is: ${types.join(", ")}`;
  if (UNSUPPORTED_TYPES.includes(type)) return `"${type}" is not supported yet. ${there}`;
  if (type === "user.tool_result") {
    return `"${type}" is not taken: the agent's own tools run in the service, and nothing waits for their results. ${there}`;
  }
  if (ALL_TYPES.includes(type))
    return `"${type}" answers an event, and there is none yet. ${there}`;
  return `"${type.slice(0, 60)}" is not a client event. ${there}`;
}
