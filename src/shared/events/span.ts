// Model requests of a turn: each start has one end.

import * as z from "zod";
import { turnEnvelope } from "./envelope.ts";

const requestStart = z.strictObject({
  ...turnEnvelope,
  type: z.literal("span.model_request_start"),
});

const requestEnd = z.strictObject({
  ...turnEnvelope,
  type: z.literal("span.model_request_end"),
  model_request_start_id: z.string(),
  /** True where the request failed or was broken off. */
  is_error: z.boolean(),
  model_usage: z.strictObject({
    input_tokens: z.number(),
    cache_read_input_tokens: z.number(),
    cache_creation_input_tokens: z.number(),
    output_tokens: z.number(),
  }),
});

export const spanEvents = [requestStart, requestEnd] as const;
