// Server-sent events: the writer of a subscription over a stream of bytes.

import type { StoredEvent } from "../rows/events.ts";
import type { EventLog, Subscription, SubscriptionOptions } from "./subscription.ts";
import { subscribe } from "./subscription.ts";
import type { EventWriter } from "./writer.ts";

/** Bytes that wait for a client before nothing more is read for it. */
const BUFFER_BYTES = 65_536;
/** Bytes that are written together at most: more of them would only be copied. */
const TOGETHER_BYTES = 16_384;

const encoder = new TextEncoder();

/** The frames of a subscription to this log. */
export function eventStream(
  log: EventLog,
  options: SubscriptionOptions,
): ReadableStream<Uint8Array> {
  let writer: SseWriter | undefined;
  let subscription: Subscription | undefined;
  return new ReadableStream(
    {
      type: "bytes",
      start(controller) {
        writer = sseWriter(controller);
        subscription = subscribe(log, writer, options);
      },
      // workerd calls it for each read, without room too.
      pull: () => subscription?.drain(),
      cancel() {
        subscription?.cancel();
        writer?.drop();
      },
    },
    { highWaterMark: BUFFER_BYTES },
  );
}

interface SseWriter extends EventWriter {
  /** The client has left: what did not leave by now never does. */
  drop(): void;
}

/**
 * Says at once that it is connected, so that a client sees the answer before the first event.
 *
 * What is written without a wait in between leaves as one piece: each is passed on by itself from
 * process to process, and that costs more than to write it.
 */
function sseWriter(controller: ReadableByteStreamController): SseWriter {
  let written = 0;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const room = () => (controller.desiredSize ?? 0) - heldBytes;
  const unread = () => BUFFER_BYTES - room();

  function write(text: string): void {
    const chunk = encoder.encode(text);
    written += chunk.byteLength;
    if (held.length === 0) queueMicrotask(flush);
    held.push(chunk);
    heldBytes += chunk.byteLength;
    if (heldBytes >= TOGETHER_BYTES) flush();
  }

  function flush(): void {
    const [first, ...more] = held;
    const all = first && more.length > 0 ? together(held, heldBytes) : first;
    drop();
    if (all) controller.enqueue(all);
  }

  function drop(): void {
    held = [];
    heldBytes = 0;
  }

  write(": connected\n\n");
  flush();
  return {
    room,
    unread,
    read: () => written - unread(),
    event: (event) => write(frame(event)),
    preview: ({ body }) => write(`event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`),
    drop,
    leftOut: (count) => write(`: ${count} events left out\n\n`),
    ping: () => write(": ping\n\n"),
    close() {
      flush();
      controller.close();
    },
  };
}

/** The data is JSON, which holds no line break; the type comes from a closed set. */
function frame({ type, seq, json }: StoredEvent): string {
  return `event: ${type}\nid: ${seq}\ndata: ${json}\n\n`;
}

function together(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}
