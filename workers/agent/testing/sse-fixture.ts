// What the tests of the event stream share: a log with listeners, and a client that reads the stream
// by the rules of server-sent events.

import type { SentEvent, StoredEvent } from "../rows/events.ts";
import { eventStream } from "../stream/event-stream.ts";
import type { PreviewFrame } from "../stream/preview.ts";
import type { EventLog, Subscriber, SubscriptionOptions } from "../stream/subscription.ts";

interface Frame {
  event: string;
  id: string | undefined;
  data: string;
}

export interface Log extends EventLog {
  events: StoredEvent[];
  subscribers: Set<Subscriber>;
  /** How often it was read. */
  reads: { count: number };
  /** Appends an event with this payload and wakes who listens, as a commit does. */
  append(payload?: unknown, type?: string): StoredEvent;
  open(options?: Partial<SubscriptionOptions>): Client;
}

export interface Client {
  stream: ReadableStream<Uint8Array>;
  frames: Frame[];
  comments: string[];
  /** What the client would send as Last-Event-ID: the last `id` line, with or without data. */
  lastId: string | undefined;
  /** Bytes that have arrived. */
  bytes: number;
  over: boolean;
  /** Waits for the next piece of the stream. */
  read(): Promise<void>;
  /** Reads until so many frames are there, or the stream is over. */
  readFrames(count: number): Promise<Frame[]>;
  cancel(): Promise<void>;
}

export function createLog(): Log {
  const events: StoredEvent[] = [];
  const subscribers = new Set<Subscriber>();
  const reads = { count: 0 };
  const log: EventLog = {
    read({ after, limit, enough }) {
      reads.count += 1;
      const rest = events.filter(({ seq }) => seq > after);
      let bytes = 0;
      const batch = rest.slice(0, limit).filter(({ json }, n) => {
        const taken = n === 0 || bytes < enough;
        bytes += json.length;
        return taken;
      });
      return { events: batch.map(sentOf), more: batch.length < rest.length };
    },
    subscribe(subscriber) {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
  };
  return {
    ...log,
    events,
    subscribers,
    reads,
    append(payload = "x", type = "agent.message") {
      const seq = events.length + 1;
      const id = `sevt_${seq}`;
      const event = { seq, id, type, json: JSON.stringify({ seq, id, type, payload }) };
      events.push(event);
      for (const subscriber of subscribers) subscriber.wake([event]);
      return event;
    },
    open(options = {}) {
      return clientOf(eventStream(log, { after: 0, previews: [], ...options }));
    },
  };
}

/** A client of any stream of events. */
export function clientOf(stream: ReadableStream<Uint8Array>): Client {
  const decoder = new TextDecoder();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let rest = "";
  let reading: Promise<void> | undefined;
  const client: Client = {
    stream,
    frames: [],
    comments: [],
    lastId: undefined,
    bytes: 0,
    over: false,
    read() {
      reading ??= readPiece().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    async readFrames(count) {
      while (client.frames.length < count && !client.over) await client.read();
      return client.frames;
    },
    cancel: () => (reader ? reader.cancel() : stream.cancel()),
  };
  return client;

  async function readPiece(): Promise<void> {
    reader ??= stream.getReader();
    const { done, value } = await reader.read();
    if (done) {
      client.over = true;
      return;
    }
    client.bytes += value.byteLength;
    rest += decoder.decode(value, { stream: true });
    // An event ends with an empty line; what comes after the last one waits for more.
    const pieces = rest.split(/(?:\r\n|\r(?!\n)|\n){2}/);
    rest = pieces.pop() ?? "";
    for (const piece of pieces) take(client, piece);
  }
}

function take(client: Client, piece: string): void {
  let event = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of piece.split(/\r\n|\r|\n/)) {
    if (line.startsWith(":")) {
      client.comments.push(line);
      continue;
    }
    const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? [];
    if (field === "event") event = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
    else if (field !== "") throw new Error(`A field that we do not send: ${field}`);
  }
  client.lastId = id ?? client.lastId;
  if (data.length > 0) client.frames.push({ event, id, data: data.join("\n") });
}

/** As it comes from a row: the larger part in bytes. */
export function sentOf({ seq, id, type, json }: StoredEvent): SentEvent {
  return { seq, id, type, head: json.slice(0, 8), rest: new TextEncoder().encode(json.slice(8)) };
}

/** The JSON of an event that is sent. */
export function jsonOf({ head, rest }: SentEvent): string {
  return head + new TextDecoder().decode(rest);
}

export const BUFFER = 65_536;
export const ids = (client: Client) =>
  client.frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
export const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n);

export function filled(count: number, payload: unknown = "x"): Log {
  const log = createLog();
  for (let n = 0; n < count; n += 1) log.append(payload);
  return log;
}

/** Lets everything settle that waits for nothing from outside. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

/** The frame that opens the preview of a message. */
export const start = (id: string): PreviewFrame => ({
  of: "agent.message",
  id,
  body: { type: "event_start", event: { id, type: "agent.message" } },
});
