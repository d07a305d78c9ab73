// Reads server-sent events of a model's answer. A server may send each piece of a word by itself, and
// many of them in one chunk: what came together is handed on together.

import { APIError } from "@anthropic-ai/sdk/error";
import { isRecord } from "./event.ts";

/** A message of the stream that is being read. */
interface Pending {
  event: string;
  data: string[];
}

/** Deltas that are parts of one text, by their type: the field that holds it. */
const TEXTS: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
};

/**
 * The JSON of each event, deltas of one block that came in one chunk as one. `alive` is called at each
 * chunk. Throws an `APIError` for an event `error`, a `SyntaxError` for what is no JSON, and what the
 * body throws. Cancels the body when its reader leaves.
 */
export async function* serverEvents(
  response: Pick<Response, "body" | "headers">,
  alive: () => void,
): AsyncGenerator<unknown, void> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const pending: Pending = { event: "", data: [] };
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      const text = decoder.decode(value, { stream: true });
      rest += text;
      // Without an end of a line the whole of a long one would be searched again.
      if (!/[\r\n]/.test(text)) continue;
      // A line may end with both, and the second may come later.
      const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
      const lines = whole.split(/\r\n|\r|\n/);
      rest = (lines.pop() ?? "") + rest.slice(whole.length);
      yield* joined(lines, pending, response.headers);
    }
  } finally {
    // The connection is closed by whoever made the request.
    reader.cancel().catch(() => {});
  }
}

function* joined(lines: readonly string[], pending: Pending, headers: Headers): Generator<unknown> {
  let last: unknown;
  for (const line of lines) {
    const message = takeLine(pending, line);
    if (!message) continue;
    let value: unknown;
    try {
      if (message.event === "error") throw apiError(message.data, headers);
      value = JSON.parse(message.data);
    } catch (error) {
      // What came before it was said all the same.
      if (last !== undefined) yield last;
      throw error;
    }
    if (extend(last, value)) continue;
    if (last !== undefined) yield last;
    last = value;
  }
  if (last !== undefined) yield last;
}

/** The message that this line ends; undefined where it ends none, or one that says nothing. */
function takeLine(pending: Pending, line: string): { event: string; data: string } | undefined {
  if (line !== "") {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") pending.event = value;
    if (field === "data") pending.data.push(value);
    return undefined;
  }
  const { event } = pending;
  const data = pending.data.join("\n");
  pending.event = "";
  pending.data = [];
  if (event === "" || event === "ping" || (data === "" && event !== "error")) return undefined;
  return { event, data };
}

/** Adds a delta to the one before it; false where they are not parts of one text. */
function extend(last: unknown, next: unknown): boolean {
  const [a, b] = [deltaOf(last), deltaOf(next)];
  if (!a || !b || a.index !== b.index || a.delta.type !== b.delta.type) return false;
  const field = TEXTS[String(a.delta.type)] ?? "";
  const [text, more] = [a.delta[field], b.delta[field]];
  if (typeof text !== "string" || typeof more !== "string") return false;
  a.delta[field] = text + more;
  return true;
}

function deltaOf(value: unknown) {
  if (!isRecord(value) || value.type !== "content_block_delta") return undefined;
  return isRecord(value.delta) ? { index: value.index, delta: value.delta } : undefined;
}

function apiError(data: string, headers: Headers): APIError {
  let body: unknown;
  try {
    body = JSON.parse(data);
  } catch {
    // What cannot be read is an error all the same; nobody is told its text.
  }
  const { error } = isRecord(body) ? body : {};
  const type = isRecord(error) && typeof error.type === "string" ? error.type : undefined;
  return new APIError(undefined, { error: { type } }, undefined, headers, undefined);
}
