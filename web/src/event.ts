// A stored event as the page draws it. The names of types and fields are those of the service's own
// schema, of which only the types come here: the schema itself would triple the page. Fields are read
// one by one, so that a page which is older than the service goes on with what it knows.
import type { EventOf, EventType } from "../../src/shared/events/event.ts";
import type { EventPreview } from "../../src/shared/events/preview.ts";
import { asList, asNumber, asObject, asText, type Json } from "./json.ts";

export type Usage = { input: number; cacheRead: number; cacheWrite: number; output: number };

export type SavedMemory = { path: string; operation: string; memoryId: string };

/** What the page distinguishes; `other` is everything it only mentions. */
type Drawn =
  | { kind: "user-message"; blocks: string[] }
  | { kind: "agent-message"; blocks: string[] }
  /** `waitsFor` says who has to answer before it runs: the user, or another client; empty for nobody. */
  | { kind: "tool-use"; name: string; input: Json; waitsFor: "" | "user" | "client" }
  | { kind: "tool-verdict"; toolUseId: string; allowed: boolean }
  | { kind: "tool-result"; toolUseId: string; text: string; failed: boolean }
  /** A message that waited is part of the running turn now. */
  | { kind: "joined"; messageId: string }
  | { kind: "running" }
  | { kind: "rescheduled" }
  | { kind: "idle"; reason: string }
  | { kind: "error"; message: string; retry: string }
  | { kind: "request-end"; usage: Usage }
  | { kind: "memory-saved"; storeId: string; memories: SavedMemory[] }
  | { kind: "memory-recalled"; paths: string[] }
  /** Tokens of the conversation as the model sees it, before it was shortened and now. */
  | { kind: "compacted"; before: number; after: number }
  | { kind: "notes-updated" }
  | { kind: "deleted" }
  | { kind: "silent" }
  | { kind: "other"; type: string; detail: string };

/** `turnId` is the id of the user message whose turn an event belongs to, empty for none. */
export type SessionEvent = { id: string; seq: number; turnId: string } & Drawn;

/** Never stored and never numbered: a preview of the message with that id. */
export type Preview =
  | { kind: "start"; id: string; type: string }
  | { kind: "delta"; id: string; index: number; text: string };

/** Fields that a value of this type has, if it is what it should be: each may be missing or wrong. */
type Loose<Value> = { [Field in keyof Value]?: unknown };

/** One reader for each type that the service writes: a new type does not compile without one. */
const READERS: { [Type in EventType]: (event: Loose<EventOf<Type>>) => Drawn } = {
  "user.message": ({ content }) => ({ kind: "user-message", blocks: readBlocks(content) }),
  "user.interrupt": () => ({ kind: "other", type: "user.interrupt", detail: "" }),
  "user.tool_confirmation": ({ tool_use_id, result }) => ({
    kind: "tool-verdict",
    toolUseId: asText(tool_use_id),
    allowed: result === "allow",
  }),
  "user.custom_tool_result": ({ custom_tool_use_id, content, is_error }) =>
    readResult(custom_tool_use_id, content, is_error),
  "agent.message": ({ content }) => ({ kind: "agent-message", blocks: readBlocks(content) }),
  "agent.thinking": readThinking,
  "agent.tool_use": ({ name, input, evaluated_permission }) => ({
    kind: "tool-use",
    name: asText(name),
    input: asObject(input),
    waitsFor: evaluated_permission === "ask" ? "user" : "",
  }),
  "agent.custom_tool_use": ({ name, input }) => ({
    kind: "tool-use",
    name: asText(name),
    input: asObject(input),
    waitsFor: "client",
  }),
  "agent.tool_result": ({ tool_use_id, content, is_error }) =>
    readResult(tool_use_id, content, is_error),
  "agent.thread_context_compacted": ({ tokens_before, tokens_after }) => ({
    kind: "compacted",
    before: asNumber(tokens_before),
    after: asNumber(tokens_after),
  }),
  "session.status_running": () => ({ kind: "running" }),
  "session.status_rescheduled": () => ({ kind: "rescheduled" }),
  "session.status_idle": ({ stop_reason }) => ({
    kind: "idle",
    reason: asText(asObject(stop_reason).type),
  }),
  "session.error": ({ error }) => readError(asObject(error)),
  "session.usage": silent,
  "session.deleted": () => ({ kind: "deleted" }),
  "span.model_request_start": silent,
  "span.model_request_end": ({ model_usage }) => ({
    kind: "request-end",
    usage: readUsage(asObject(model_usage)),
  }),
  "turn.joined": ({ message_id }) => ({ kind: "joined", messageId: asText(message_id) }),
  "memory.recalled": ({ selected }) => {
    const paths = pathsOf(selected);
    return paths.length === 0 ? silent() : { kind: "memory-recalled", paths };
  },
  "memory.saved": ({ store_id, memories }) => ({
    kind: "memory-saved",
    storeId: asText(store_id),
    memories: asList(memories).map((memory) => readSaved(asObject(memory))),
  }),
  "memory.skipped": silent,
  "session_memory.updated": () => ({ kind: "notes-updated" }),
};

/** Reads a stored event; `seq` is the stream's id where the body has none. */
export function parseEvent(value: unknown, streamId = ""): SessionEvent {
  const body = asObject(value);
  const seq = asNumber(body.seq) || asNumber(Number(streamId));
  const base = { id: asText(body.id), seq, turnId: asText(body.turn_id) };
  const type = asText(body.type, "unknown");
  if (isKnown(type)) return { ...base, ...READERS[type](body) };
  return { ...base, kind: "other", type, detail: readDetail(body) };
}

/** Undefined for what is no preview: a stored event. */
export function parsePreview(value: unknown): Preview | undefined {
  const body: Loose<Extract<EventPreview, { type: "event_start" }>> &
    Loose<Extract<EventPreview, { type: "event_delta" }>> = asObject(value);
  if (body.type === "event_start") {
    const event = asObject(body.event);
    return { kind: "start", id: asText(event.id), type: asText(event.type) };
  }
  if (body.type !== "event_delta") return undefined;
  const delta: Loose<Extract<EventPreview, { type: "event_delta" }>["delta"]> = asObject(
    body.delta,
  );
  const text = asText(asObject(delta.content).text);
  return { kind: "delta", id: asText(body.event_id), index: asNumber(delta.index), text };
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(READERS, type);
}

function silent(): Drawn {
  return { kind: "silent" };
}

function readBlocks(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return asList(content).map((item) => {
    const block = asObject(item);
    return block.type === "text" ? asText(block.text) : `[${asText(block.type, "block")}]`;
  });
}

/** The service tells no thoughts; what one may tell some day is worth a line. */
function readThinking(event: Loose<EventOf<"agent.thinking">> & { content?: unknown }): Drawn {
  const detail = readBlocks(event.content).join("\n").trim();
  return detail === "" ? silent() : { kind: "other", type: "agent.thinking", detail };
}

function readResult(toolUseId: unknown, content: unknown, isError: unknown): Drawn {
  const text = readBlocks(content).join("\n");
  return { kind: "tool-result", toolUseId: asText(toolUseId), text, failed: isError === true };
}

function readError(error: Loose<EventOf<"session.error">["error"]>): Drawn {
  const message = asText(error.message) || asText(error.type, "Unknown error");
  return { kind: "error", message, retry: asText(asObject(error.retry_status).type) };
}

function readSaved(memory: Loose<EventOf<"memory.saved">["memories"][number]>): SavedMemory {
  return {
    path: asText(memory.path).replace(/^\//, ""),
    operation: asText(memory.operation),
    memoryId: asText(memory.memory_id),
  };
}

function readUsage(usage: Loose<EventOf<"span.model_request_end">["model_usage"]>): Usage {
  return {
    input: asNumber(usage.input_tokens),
    cacheRead: asNumber(usage.cache_read_input_tokens),
    cacheWrite: asNumber(usage.cache_creation_input_tokens),
    output: asNumber(usage.output_tokens),
  };
}

/** The paths or the reason that an event of a type we do not know may name. */
function readDetail(body: Json): string {
  const paths = [...pathsOf(body.selected), ...pathsOf(body.memories)].filter(
    (path) => path !== "",
  );
  return paths.join(", ") || asText(body.reason);
}

function pathsOf(items: unknown): string[] {
  return asList(items).map((item) => asText(asObject(item).path));
}
