import { type Answer, type OutBlock, piecesOf } from "./answer.ts";
import { errorBody } from "./api-error.ts";
import type { Fault } from "./script.ts";

// An answer on the wire: as one JSON message, or as the API's events in their order, with the faults
// that strike on the way.

export interface StreamOptions {
  requestId: string;
  signal: AbortSignal;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  chunkDelayMs: number;
  split: "events" | "bytes" | number;
  fault: Fault | undefined;
  /** Called once, before the first byte leaves. */
  onFirstByte: () => void;
  /** Called when the client goes away before the end. */
  onGone: () => void;
}

type Event = { type: string } & Record<string, unknown>;

function messageOf(answer: Answer): Record<string, unknown> {
  return {
    ...envelope(answer),
    content: answer.blocks.map((block) => {
      if (block.type === "text") return { type: "text", text: block.text, citations: null };
      if (block.type === "thinking") return block;
      return { ...emptyBlock(block), input: parsedOr(block.json, {}) };
    }),
    stop_reason: answer.stopReason,
    stop_sequence: answer.stopSequence,
    stop_details: answer.stopDetails,
    usage: answer.usage,
  };
}

function eventsOf(answer: Answer): Event[] {
  const { output_tokens, output_tokens_details, ...input } = answer.usage;
  const message = {
    ...envelope(answer),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { ...input, output_tokens: 1, output_tokens_details: null },
  };
  return [
    { type: "message_start", message },
    { type: "ping" },
    ...answer.blocks.flatMap(blockEvents),
    {
      type: "message_delta",
      delta: {
        stop_reason: answer.stopReason,
        stop_sequence: answer.stopSequence,
        stop_details: answer.stopDetails,
        container: null,
      },
      usage: {
        input_tokens: input.input_tokens,
        cache_creation_input_tokens: input.cache_creation_input_tokens,
        cache_read_input_tokens: input.cache_read_input_tokens,
        output_tokens,
        output_tokens_details,
        server_tool_use: null,
      },
    },
    { type: "message_stop" },
  ];
}

function envelope(answer: Answer): Record<string, unknown> {
  const { id, model } = answer;
  return { id, type: "message", role: "assistant", model, container: null, diagnostics: null };
}

function blockEvents(block: OutBlock, index: number): Event[] {
  const delta = (value: Record<string, unknown>): Event => ({
    type: "content_block_delta",
    index,
    delta: value,
  });
  return [
    { type: "content_block_start", index, content_block: emptyBlock(block) },
    ...deltasOf(block).map(delta),
    { type: "content_block_stop", index },
  ];
}

function emptyBlock(block: OutBlock): Record<string, unknown> {
  if (block.type === "text") return { type: "text", text: "", citations: null };
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  const { type, id, name } = block;
  return { type, id, name, input: {}, caller: { type: "direct" } };
}

function deltasOf(block: OutBlock): Record<string, unknown>[] {
  if (block.type === "text") {
    return piecesOf(block.text).map((text) => ({ type: "text_delta", text }));
  }
  if (block.type === "thinking") {
    const pieces = piecesOf(block.thinking);
    return [
      ...pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: block.signature },
    ];
  }
  // The API opens a tool's input with an empty piece.
  const pieces = ["", ...piecesOf(block.json)];
  return pieces.map((partial_json) => ({ type: "input_json_delta", partial_json }));
}

function parsedOr(json: string, fallback: unknown): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return fallback;
  }
}

/** The whole message in one JSON body; a fault cuts it, ends it or holds it half way. */
export function messageBody(answer: Answer, options: StreamOptions): ReadableStream<Uint8Array> {
  const text = JSON.stringify(messageOf(answer));
  return bodyFrom((live) => jsonParts(text, live), options);
}

async function* jsonParts(text: string, options: StreamOptions): AsyncGenerator<string> {
  const struck = strikes(options.fault);
  yield struck ? text.slice(0, text.length / 2) : text;
  if (struck) await strike(struck, options);
}

export function eventBody(answer: Answer, options: StreamOptions): ReadableStream<Uint8Array> {
  return bodyFrom((live) => eventParts(answer, live), options);
}

async function* eventParts(answer: Answer, options: StreamOptions): AsyncGenerator<string> {
  const struck = strikes(options.fault);
  let chunks = 0;
  for (const event of eventsOf(answer)) {
    const isChunk = event.type === "content_block_delta";
    const due = isChunk ? chunks >= (struck?.after_chunks ?? 0) : event.type === "message_delta";
    if (struck && due) {
      const last = await strike(struck, options);
      if (last !== undefined) yield last;
      return;
    }
    if (isChunk) {
      if (chunks > 0) await options.sleep(options.chunkDelayMs, options.signal);
      chunks += 1;
    }
    yield frame(event);
  }
}

type StreamFault = Extract<Fault, { type: "stream_error" | "cut" | "end_early" | "stall" }>;

function strikes(fault: Fault | undefined): StreamFault | undefined {
  switch (fault?.type) {
    case "stream_error":
    case "cut":
    case "end_early":
    case "stall":
      return fault;
    default:
      return undefined;
  }
}

/** Answers the frame to send before the end, if one belongs to the fault; throws to break the line. */
async function strike(fault: StreamFault, options: StreamOptions): Promise<string | undefined> {
  switch (fault.type) {
    case "stream_error": {
      const error = errorBody({ status: 529, message: "Overloaded" }, options.requestId);
      return frame({ ...error, type: "error" });
    }
    case "cut":
      throw new Error("The fake model cut the connection, as scripted");
    case "stall":
      return untilAborted(options.signal);
    case "end_early":
      return undefined;
  }
}

/** Never answers: ends by throwing when the client has gone away. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
  });
}

function frame(event: Event): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

type Parts = (options: StreamOptions) => AsyncGenerator<string>;

// The reader pulls each piece, so a client that goes away stops the work.
function bodyFrom(parts: Parts, options: StreamOptions): ReadableStream<Uint8Array> {
  const cancelled = new AbortController();
  const signal = AbortSignal.any([options.signal, cancelled.signal]);
  const writes = splitParts(parts({ ...options, signal }), options.split);
  let state: "new" | "open" | "ended" = "new";
  const gone = untilAborted(signal);
  gone.catch(() => {
    if (state !== "ended") options.onGone();
  });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await Promise.race([gone, writes.next()]);
        if (next.done) {
          state = "ended";
          return controller.close();
        }
        if (state === "new") options.onFirstByte();
        state = "open";
        controller.enqueue(next.value);
      },
      cancel(reason) {
        cancelled.abort(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

async function* splitParts(
  parts: AsyncGenerator<string>,
  split: StreamOptions["split"],
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const part of parts) {
    const bytes = encoder.encode(part);
    const size = split === "events" ? bytes.length : split === "bytes" ? 1 : split;
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
}
