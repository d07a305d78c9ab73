import * as z from "zod";

// What a test can make the fake model say or suffer. A chunk is one content_block_delta event:
// `after_chunks: 0` strikes before the first, a number past the end just before message_delta.

const chunks = { after_chunks: z.int().min(0).default(1) };

const faultSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("status"),
    status: z.int().min(400).max(599),
    retry_after: z.number().min(0).optional(),
    message: z.string().optional(),
  }),
  z.strictObject({ type: z.literal("stream_error"), ...chunks }),
  z.strictObject({ type: z.literal("cut"), ...chunks }),
  z.strictObject({ type: z.literal("end_early"), ...chunks }),
  z.strictObject({ type: z.literal("stall"), ...chunks }),
  z.strictObject({ type: z.literal("stall_headers") }),
  z.strictObject({ type: z.literal("malformed_tool_json") }),
  z.strictObject({ type: z.literal("max_tokens"), after_chunks: z.int().min(0).optional() }),
  z.strictObject({
    type: z.literal("refusal"),
    category: z
      .enum(["cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"])
      .optional(),
  }),
  z.strictObject({ type: z.literal("pause_turn") }),
  z.strictObject({ type: z.literal("context_exceeded") }),
  z.strictObject({ type: z.literal("unknown_stop") }),
]);

const usageSchema = z.strictObject({
  input_tokens: z.int().min(0).optional(),
  output_tokens: z.int().min(0).optional(),
  cache_creation_input_tokens: z.int().min(0).optional(),
  cache_read_input_tokens: z.int().min(0).optional(),
});

const matchSchema = z.strictObject({
  purpose: z.string().optional(),
  session: z.string().optional(),
  contains: z.string().optional(),
});

const stepSchema = z.strictObject({
  text: z.string().optional(),
  thinking: z.string().optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string(),
        input: z.record(z.string(), z.unknown()),
        id: z.string().optional(),
      }),
    )
    .optional(),
  stop_reason: z.string().optional(),
  usage: usageSchema.optional(),
  /** Waits before the headers. */
  delayMs: z.number().min(0).optional(),
  /** Waits between chunks; in place of the fake model's own pause. */
  chunkDelayMs: z.number().min(0).optional(),
  /** The size of the writes of the SSE body: whole events, single bytes, or so many bytes. */
  split: z.union([z.literal("events"), z.literal("bytes"), z.int().min(1)]).optional(),
  /** Only a request that fits may take the step; one without it fits every request. */
  match: matchSchema.optional(),
  /** How many requests the step answers; 1 if left out. */
  times: z.int().min(1).optional(),
  fault: faultSchema.optional(),
});

/** A step as a test writes it; `after_chunks` may be left out. */
export type ScriptStep = z.input<typeof stepSchema>;
export type ParsedStep = z.output<typeof stepSchema>;
export type ToolStep = NonNullable<ScriptStep["tools"]>[number];
export type Fault = z.output<typeof faultSchema>;

/** What a step's `match` has to fit. */
export interface CallTraits {
  purpose: string | undefined;
  session: string | undefined;
  lastUserText: string;
}

export interface ScriptQueue {
  /** Throws on a step that is not one, naming the place: a silent typo would hide a test. */
  add(step: unknown): void;
  /** Takes the first step that fits, the oldest first. */
  take(call: CallTraits): ParsedStep | undefined;
  clear(): void;
}

export function createScriptQueue(): ScriptQueue {
  let waiting: { step: ParsedStep; left: number }[] = [];
  return {
    add: (step) => {
      const parsed = parseStep(step);
      waiting.push({ step: parsed, left: parsed.times ?? 1 });
    },
    take: (call) => {
      const found = waiting.find(({ step }) => fits(step, call));
      if (!found) return undefined;
      found.left -= 1;
      if (found.left === 0) waiting = waiting.filter((entry) => entry !== found);
      return found.step;
    },
    clear: () => {
      waiting = [];
    },
  };
}

export function parseStep(step: unknown): ParsedStep {
  const parsed = stepSchema.safeParse(step);
  if (parsed.success) return parsed.data;
  throw new Error(`Cannot use script step: ${z.prettifyError(parsed.error)}`);
}

function fits(step: ParsedStep, call: CallTraits): boolean {
  const { purpose, session, contains } = step.match ?? {};
  if (purpose !== undefined && purpose !== call.purpose) return false;
  if (session !== undefined && session !== call.session) return false;
  return contains === undefined || call.lastUserText.includes(contains);
}
