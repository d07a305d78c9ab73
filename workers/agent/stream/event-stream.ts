// Server-sent events: the writer of a subscription over a stream of bytes.

import type { StoredEvent } from "../rows/events.ts";
import type { EventLog, Subscription, SubscriptionOptions } from "./subscription.ts";
import { subscribe } from "./subscription.ts";
import type { EventWriter } from "./writer.ts";

/** Bytes that wait for a client before nothing more is read for it. */
const BUFFER_BYTES = 65_536;

/** The frames of a subscription to this log. */
export function eventStream(
  log: EventLog,
  options: SubscriptionOptions,
): ReadableStream<Uint8Array> {
  let subscription: Subscription | undefined;
  return new ReadableStream(
    {
      type: "bytes",
      start(controller) {
        subscription = subscribe(log, sseWriter(controller), options);
      },
      // workerd calls it for each read, without room too.
      pull: () => subscription?.drain(),
      cancel: () => subscription?.cancel(),
    },
    { highWaterMark: BUFFER_BYTES },
  );
}

/** Says at once that it is connected, so that a client sees the answer before the first event. */
function sseWriter(controller: ReadableByteStreamController): EventWriter {
  let written = 0;
  const room = () => controller.desiredSize ?? 0;
  const unread = () => BUFFER_BYTES - room();

  function write(text: string): void {
    const chunk = new TextEncoder().encode(text);
    // Before it is handed over: a stream takes the buffer, and its length with it.
    written += chunk.byteLength;
    controller.enqueue(chunk);
  }

  write(": connected\n\n");
  return {
    room,
    unread,
    read: () => written - unread(),
    event: (event) => write(frame(event)),
    preview: ({ body }) => write(`event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`),
    leftOut: (count) => write(`: ${count} events left out\n\n`),
    ping: () => write(": ping\n\n"),
    close: () => controller.close(),
  };
}

/** The data is JSON, which holds no line break; the type comes from a closed set. */
function frame({ type, seq, json }: StoredEvent): string {
  return `event: ${type}\nid: ${seq}\ndata: ${json}\n\n`;
}
