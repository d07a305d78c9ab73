// Client events as they are stored. What a client may send is checked more strictly, with texts for
// people, by `workers/agent/contract/client-events.ts`; what passes there fits here.

import * as z from "zod";
import { envelope, textBlock } from "./envelope.ts";

/** Its id is the `turn_id` of the turn that it starts. */
const message = z.strictObject({
  ...envelope,
  type: z.literal("user.message"),
  content: z.array(textBlock),
});

const interrupt = z.strictObject({
  ...envelope,
  type: z.literal("user.interrupt"),
  session_thread_id: z.null().optional(),
});

const toolConfirmation = z.strictObject({
  ...envelope,
  type: z.literal("user.tool_confirmation"),
  /** Id of the `agent.tool_use` event. */
  tool_use_id: z.string(),
  result: z.enum(["allow", "deny"]),
  deny_message: z.string().nullable().optional(),
});

const customToolResult = z.strictObject({
  ...envelope,
  type: z.literal("user.custom_tool_result"),
  /** Id of the `agent.custom_tool_use` event. */
  custom_tool_use_id: z.string(),
  content: z.array(textBlock).optional(),
  is_error: z.boolean().nullable().optional(),
});

export const userEvents = [message, interrupt, toolConfirmation, customToolResult] as const;
