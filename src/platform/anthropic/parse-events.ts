// Server-sent events from bytes. A line may end with \n, \r or both, and a chunk may end anywhere.

import { APIError } from "@anthropic-ai/sdk/error";
import { isRecord } from "./event.ts";

/** A message of the stream that is being read. */
interface Pending {
  event: string;
  data: string;
}

/**
 * A function that takes a chunk and gives `add` the JSON of each event that ends in it. It throws an
 * `APIError` for an event `error`, a `SyntaxError` for what is no JSON.
 */
export function createEventParser(headers: Headers, add: (event: unknown) => void) {
  const decoder = new TextDecoder();
  let pending: Pending = { event: "", data: "" };
  let rest = "";

  return function takeChunk(chunk: Uint8Array): void {
    const text = decoder.decode(chunk, { stream: true });
    const hasReturn = text.includes("\r") || rest.endsWith("\r");
    // Without an end of a line the whole of a long one would be searched again.
    if (!hasReturn && !text.includes("\n")) {
      rest += text;
      return;
    }
    const all = rest + text;
    // A line may end with both, and the second may come later.
    const whole = all.endsWith("\r") ? all.slice(0, -1) : all;
    const lines = hasReturn ? whole.split(/\r\n|\r|\n/) : whole.split("\n");
    rest = (lines.pop() ?? "") + all.slice(whole.length);
    for (const line of lines) {
      const message = takeLine(line);
      if (!message) continue;
      if (message.event === "error") throw apiError(message.data, headers);
      add(JSON.parse(message.data));
    }
  };

  /** The message that this line ends; undefined where it ends none, or one that says nothing. */
  function takeLine(line: string): Pending | undefined {
    if (line !== "") {
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
      if (field === "event") pending.event = value;
      if (field === "data") pending.data += pending.data === "" ? value : `\n${value}`;
      return undefined;
    }
    const ended = pending;
    pending = { event: "", data: "" };
    const { event, data } = ended;
    if (event === "" || event === "ping" || (data === "" && event !== "error")) return undefined;
    return ended;
  }
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
