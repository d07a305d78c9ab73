// Step 8, first half: one call of the model. Read-only tools start as soon as their input is complete.
// Their results are discarded unless the answer ends with `tool_use`.

import { type Message, withoutThinking } from "../thread/messages.ts";
import { startRead } from "./calls.ts";
import type { Answer, Model, ModelEvent, ModelFailure, ModelRequest } from "./model.ts";
import type { LoopStep } from "./steps.ts";
import type { Tool, ToolResult } from "./tool.ts";

interface Ports {
  model: Model;
  tools: ReadonlyMap<string, Tool>;
  request: Omit<ModelRequest, "messages">;
}

export interface ModelCall {
  answer: Answer | ModelFailure;
  /** All text of the answer, also of one that broke off. */
  text: string;
  /** The reads that started while the answer was streaming, by the id of their call. */
  started: Map<string, Promise<ToolResult>>;
  /** Aborts the reads; their results count for nothing. */
  stopReads(): void;
}

/** Calls `model`, which may differ from the request's own. Yields the stream events as they come. */
export async function* callModel(
  { model: port, tools, request }: Ports,
  model: string,
  messages: readonly Message[],
  signal: AbortSignal,
): AsyncGenerator<LoopStep, ModelCall> {
  const reads = new AbortController();
  const started = new Map<string, Promise<ToolResult>>();
  const isOwnModel = model === request.model;
  let text = "";
  // The API binds thinking to its model, so the fallback must not get it.
  const sent = isOwnModel
    ? messages
    : messages.flatMap((message) => withoutThinking(message) ?? []);
  const stream = port.stream({ ...request, model, messages: sent }, signal);
  let event = await stream.next();
  while (!event.done) {
    if (event.value.type === "text") text += event.value.text;
    startReadOf(event.value);
    yield { type: "preview", event: event.value };
    event = await stream.next();
  }
  const answer = isOwnModel ? event.value : withoutAnswerThinking(event.value);
  return { answer, text, started, stopReads: () => reads.abort() };

  function startReadOf(event: ModelEvent): void {
    if (event.type !== "call" || event.call.malformed !== undefined) return;
    const tool = tools.get(event.call.name);
    if (tool?.kind !== "read") return;
    const stop = AbortSignal.any([signal, reads.signal]);
    started.set(event.call.id, startRead(tool, event.call.input, stop));
  }
}

/** A later request to the thread's own model must not contain the fallback's thinking. */
function withoutAnswerThinking(answer: Answer | ModelFailure): Answer | ModelFailure {
  if (answer.status === "failed") return answer;
  const message = withoutThinking({ role: "assistant", content: answer.content });
  return { ...answer, content: message?.role === "assistant" ? message.content : [] };
}
