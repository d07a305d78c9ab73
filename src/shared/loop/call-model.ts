// Step 8, its first half: one call of the model. Read-only tools start as soon as their input is
// complete; what they give is thrown away where the answer does not end in a request for tools.

import { type Message, withoutThinking } from "../thread/messages.ts";
import type { ToolCallRun } from "./calls.ts";
import { startRead } from "./calls.ts";
import type { Answer, Model, ModelEvent, ModelFailure, ModelRequest } from "./model.ts";
import type { LoopStep } from "./steps.ts";
import type { Tool } from "./tool.ts";

interface Ports {
  model: Model;
  tools: ReadonlyMap<string, Tool>;
  request: Omit<ModelRequest, "messages">;
}

export interface ModelCall {
  answer: Answer | ModelFailure;
  /** All text that the model said, also where it broke off. */
  text: string;
  /** The reads that began while it still spoke, by the id of their call. */
  started: Map<string, ToolCallRun>;
  /** Throws the reads away. */
  stopReads(): void;
}

/** Asks `model`, which may be another than the request's own. Yields what it says as it comes. */
export async function* callModel(
  { model: port, tools, request }: Ports,
  model: string,
  messages: readonly Message[],
  signal: AbortSignal,
): AsyncGenerator<LoopStep, ModelCall> {
  const reads = new AbortController();
  const started = new Map<string, ToolCallRun>();
  const own = model === request.model;
  let text = "";
  // Thinking is bound to the model that thought: another one is not shown it.
  const sent = own ? messages : messages.flatMap((message) => withoutThinking(message) ?? []);
  const stream = port.stream({ ...request, model, messages: sent }, signal);
  let event = await stream.next();
  while (!event.done) {
    if (event.value.type === "text") text += event.value.text;
    begin(event.value);
    yield { type: "preview", event: event.value };
    event = await stream.next();
  }
  const answer = own ? event.value : withoutThoughts(event.value);
  return { answer, text, started, stopReads: () => reads.abort() };

  function begin(event: ModelEvent): void {
    if (event.type !== "call" || event.call.malformed !== undefined) return;
    const tool = tools.get(event.call.name);
    if (tool?.kind !== "read") return;
    const stop = AbortSignal.any([signal, reads.signal]);
    started.set(event.call.id, startRead(tool, event.call.input, stop));
  }
}

/** What another model thought is nothing that the thread's own could be shown later. */
function withoutThoughts(answer: Answer | ModelFailure): Answer | ModelFailure {
  if (answer.status === "failed") return answer;
  const message = withoutThinking({ role: "assistant", content: answer.content });
  return { ...answer, content: message?.role === "assistant" ? message.content : [] };
}
