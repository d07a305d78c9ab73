// Server-sent events: the writer of a subscription over a stream of bytes.

import type { SentEvent } from "../rows/events.ts";
import { openPipe } from "./byte-pipe.ts";
import { chunksOf, type Piece } from "./chunks.ts";
import type { EventLog, SubscriptionOptions } from "./subscription.ts";
import { subscribe } from "./subscription.ts";

/** Bytes that wait for a client before nothing more is read for it. */
const BUFFER_BYTES = 65_536;

/**
 * The frames of a subscription to this log. It says at once that it is connected, so that a client
 * sees the answer before the first event.
 */
export function eventStream(
  log: EventLog,
  options: SubscriptionOptions,
): ReadableStream<Uint8Array> {
  const pipe = openPipe();
  let waiting: Piece[] = [];
  /** The size of what waits, where a character counts as a byte: it is encoded when it is sent. */
  let queued = 0;
  /** Bytes on their way, and those that the client has read. */
  let [under, read] = [0, 0];
  let sending = false;
  let over = false;

  function write(...pieces: Piece[]): void {
    waiting.push(...pieces);
    for (const { length } of pieces) queued += length;
    if (!sending) void send();
  }

  /** Sends what waits and what comes meanwhile; what waits together goes together. */
  async function send(): Promise<void> {
    sending = true;
    try {
      while (waiting.length > 0) {
        const chunks = chunksOf(waiting);
        [waiting, queued] = [[], 0];
        for (const { byteLength } of chunks) under += byteLength;
        for (const chunk of chunks) {
          // Before it is handed over: its length goes with it.
          const { byteLength } = chunk;
          await pipe.write(chunk);
          under -= byteLength;
          read += byteLength;
        }
        subscription.drain();
      }
      if (over) await pipe.close();
    } catch (error) {
      left();
      // A client that is still there comes back with its cursor.
      pipe.abort(error).catch(() => {});
    } finally {
      sending = false;
    }
  }

  function left(): void {
    subscription.cancel();
    waiting = [];
  }

  /** The data is JSON, which holds no line break; the type comes from a closed set. */
  function event({ type, seq, head, rest }: SentEvent): void {
    const begin = `event: ${type}\nid: ${seq}\ndata: ${head}`;
    if (rest) write(begin, rest, "\n\n");
    else write(`${begin}\n\n`);
  }

  const unread = () => queued + under;
  const subscription = subscribe(
    log,
    {
      room: () => BUFFER_BYTES - unread(),
      unread,
      read: () => read,
      event,
      preview: ({ body }) => write(`event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`),
      leftOut: (count) => write(`: ${count} events left out\n\n`),
      ping: () => write(": ping\n\n"),
      close() {
        over = true;
        if (!sending) void send();
      },
    },
    options,
  );
  pipe.onLeft(left);
  write(": connected\n\n");
  return pipe.readable;
}
