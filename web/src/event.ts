import { asList, asNumber, asObject, asText, type Json } from "./json.ts";

export type Usage = { input: number; cacheRead: number; cacheWrite: number; output: number };

export type SavedMemory = { path: string; operation: string; memoryId: string };

/** What the page distinguishes; `other` is everything it only mentions. */
/** `turnId` is the id of the user message whose turn an event belongs to, empty for none. */
export type SessionEvent = { id: string; seq: number; turnId: string } & (
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
  | { kind: "other"; type: string; detail: string }
);

/** Never stored and never numbered: a preview of the message with that id. */
export type Preview =
  | { kind: "start"; id: string; type: string }
  | { kind: "delta"; id: string; index: number; text: string };

export function parsePreview(value: unknown): Preview | undefined {
  const body = asObject(value);
  if (body.type === "event_start") {
    const event = asObject(body.event);
    return { kind: "start", id: asText(event.id), type: asText(event.type) };
  }
  if (body.type !== "event_delta") return undefined;
  const delta = asObject(body.delta);
  const text = asText(asObject(delta.content).text);
  return { kind: "delta", id: asText(body.event_id), index: asNumber(delta.index), text };
}

/** Reads a stored event; `seq` is the stream's id where the body has none. */
export function parseEvent(value: unknown, streamId = ""): SessionEvent {
  const body = asObject(value);
  const seq = asNumber(body.seq) || asNumber(Number(streamId));
  const base = { id: asText(body.id), seq, turnId: asText(body.turn_id) };
  const type = asText(body.type, "unknown");
  switch (type) {
    case "user.message":
      return { ...base, kind: "user-message", blocks: readBlocks(body.content) };
    case "agent.message":
      return { ...base, kind: "agent-message", blocks: readBlocks(body.content) };
    case "agent.tool_use":
    case "agent.custom_tool_use": {
      const asks = body.evaluated_permission === "ask" ? "user" : "";
      const waitsFor = type === "agent.custom_tool_use" ? "client" : asks;
      const name = asText(body.name);
      return { ...base, kind: "tool-use", name, input: asObject(body.input), waitsFor };
    }
    case "user.tool_confirmation": {
      const toolUseId = asText(body.tool_use_id);
      return { ...base, kind: "tool-verdict", toolUseId, allowed: body.result === "allow" };
    }
    case "turn.joined":
      return { ...base, kind: "joined", messageId: asText(body.message_id) };
    case "agent.tool_result":
    case "user.custom_tool_result":
    case "user.tool_result": {
      const toolUseId = asText(body.tool_use_id) || asText(body.custom_tool_use_id);
      const text = readBlocks(body.content).join("\n");
      return { ...base, kind: "tool-result", toolUseId, text, failed: body.is_error === true };
    }
    case "session.status_running":
      return { ...base, kind: "running" };
    case "session.status_rescheduled":
      return { ...base, kind: "rescheduled" };
    case "session.status_idle":
      return { ...base, kind: "idle", reason: asText(asObject(body.stop_reason).type) };
    case "session.error": {
      const error = asObject(body.error);
      const retry = asText(asObject(error.retry_status).type);
      const message = asText(error.message) || asText(error.type, "Unknown error");
      return { ...base, kind: "error", message, retry };
    }
    case "span.model_request_end":
      return { ...base, kind: "request-end", usage: readUsage(asObject(body.model_usage)) };
    case "memory.saved": {
      const memories = asList(body.memories).map(readSaved);
      return { ...base, kind: "memory-saved", storeId: asText(body.store_id), memories };
    }
    case "memory.recalled": {
      const paths = asList(body.selected).map((memory) => asText(asObject(memory).path));
      return paths.length === 0
        ? { ...base, kind: "silent" }
        : { ...base, kind: "memory-recalled", paths };
    }
    case "agent.thread_context_compacted": {
      const [before, after] = [asNumber(body.tokens_before), asNumber(body.tokens_after)];
      return { ...base, kind: "compacted", before, after };
    }
    case "session_memory.updated":
      return { ...base, kind: "notes-updated" };
    case "agent.thinking": {
      const detail = readBlocks(body.content).join("\n").trim();
      return detail === "" ? { ...base, kind: "silent" } : { ...base, kind: "other", type, detail };
    }
    case "session.deleted":
      return { ...base, kind: "deleted" };
    case "memory.skipped":
    case "span.model_request_start":
    case "session.usage":
      return { ...base, kind: "silent" };
    default:
      return { ...base, kind: "other", type, detail: readDetail(body) };
  }
}

function readBlocks(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return asList(content).map((item) => {
    const block = asObject(item);
    return block.type === "text" ? asText(block.text) : `[${asText(block.type, "block")}]`;
  });
}

function readSaved(value: unknown): SavedMemory {
  const body = asObject(value);
  return {
    path: asText(body.path).replace(/^\//, ""),
    operation: asText(body.operation),
    memoryId: asText(body.memory_id),
  };
}

function readUsage(body: Json): Usage {
  return {
    input: asNumber(body.input_tokens),
    cacheRead: asNumber(body.cache_read_input_tokens),
    cacheWrite: asNumber(body.cache_creation_input_tokens),
    output: asNumber(body.output_tokens),
  };
}

/** The paths or the reason that a memory event names. */
function readDetail(body: Json): string {
  const named = [...asList(body.selected), ...asList(body.memories)];
  const paths = named.map((item) => asText(asObject(item).path)).filter((path) => path !== "");
  return paths.join(", ") || asText(body.reason);
}
