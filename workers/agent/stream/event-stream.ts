// Server-sent events of one session. A subscriber reads the log behind its own cursor, replayed and
// live events alike: so nothing can overtake, be missed or come twice, and a client that does not
// read costs one buffer. Previews go only to those who have caught up and have room.

import { STREAM_BATCH, STREAM_PING_MS } from "../../../src/shared/limits/http.ts";
import type { StoredEvent } from "../rows/events.ts";
import type { PreviewFrame } from "./preview.ts";

/** Bytes that wait for a client before nothing more is read for it. */
const BUFFER_BYTES = 65_536;
/** Signs of life that nobody reads before a client counts as gone: a connection may die unnoticed. */
const UNREAD_PINGS = 4;
/** Bytes beyond the buffer that a session's end may still hand to a client that does not read. */
const FINISH_BYTES = 4_000_000;

export interface Subscriber {
  /** There is something new in the log. */
  wake(): void;
  preview(frames: readonly PreviewFrame[]): void;
  /**
   * The log is about to be cleared: this event is the last one. A client that reads too slowly does
   * not get all that stands before it; a comment then says how many events were left out.
   */
  finish(last: StoredEvent): void;
}

export interface StreamOptions {
  /** Number of the event behind which to start. */
  after: number;
  /** Event types whose previews are wanted. */
  previews: readonly string[];
  pingMs?: number;
}

/** A stream of SSE frames. `subscribe` registers it and gives back how to undo that. */
export function eventStream(
  read: (after: number, limit: number) => StoredEvent[],
  subscribe: (subscriber: Subscriber) => () => void,
  options: StreamOptions,
): ReadableStream<Uint8Array> {
  const { previews, pingMs = STREAM_PING_MS } = options;
  let cursor = options.after;
  let controller: ReadableByteStreamController | undefined;
  let caughtUp = false;
  let over = false;
  let draining = false;
  let size = STREAM_BATCH;
  /** By type, the id of the event whose preview is under way without a hole. */
  const previewed = new Map<string, string>();
  /** Bytes that were handed to the stream, and how many of them had been read at the last beat. */
  let given = 0;
  let taken = 0;
  let unread = 0;

  const subscriber: Subscriber = {
    wake() {
      caughtUp = false;
      drain();
    },
    preview(frames) {
      for (const { of, type, body, id } of frames) {
        if (!previews.includes(of)) continue;
        const begun = type === "event_start" || previewed.get(of) === id;
        // Without its beginning, or behind a hole, the rest of a preview means nothing.
        previewed.delete(of);
        if (!controller || over || !caughtUp || !begun || !room(controller)) continue;
        previewed.set(of, id);
        give(controller, bytes(`event: ${type}\ndata: ${JSON.stringify(body)}\n\n`));
      }
    },
    finish(last) {
      drain(FINISH_BYTES);
      if (controller && !over && cursor < last.seq) {
        const missing = last.seq - cursor - 1;
        if (missing > 0) give(controller, bytes(`: ${missing} events left out\n\n`));
        give(controller, bytes(frame(last)));
      }
      if (!over) controller?.close();
      end();
    },
  };
  const leave = subscribe(subscriber);
  const heart = setInterval(beat, pingMs);

  return new ReadableStream(
    {
      type: "bytes",
      start(opened) {
        controller = opened;
        give(opened, bytes(": connected\n\n"));
      },
      // workerd calls it for each read, without room too.
      pull: () => void drain(),
      cancel: end,
    },
    { highWaterMark: BUFFER_BYTES },
  );

  /**
   * Hands over what the log has behind the cursor, while there is room (or less than `beyond` bytes
   * too few); true if that was anything. Large events are read a few at a time, lest they pile up.
   */
  function drain(beyond = 0): boolean {
    // A stream may ask for more from within `enqueue`: the events at hand come first.
    if (draining) return true;
    draining = true;
    try {
      return handOver(beyond);
    } finally {
      draining = false;
    }
  }

  function handOver(beyond: number): boolean {
    let any = false;
    while (controller && !over && room(controller, beyond)) {
      const batch = read(cursor, size);
      let count = 0;
      for (const event of batch) {
        if (!room(controller, beyond)) break;
        cursor = event.seq;
        give(controller, bytes(frame(event)));
        count += 1;
      }
      any ||= count > 0;
      caughtUp = count === batch.length && batch.length < size;
      size = count < batch.length ? count : Math.min(size * 2, STREAM_BATCH);
      if (caughtUp) break;
    }
    return any;
  }

  function give(to: ReadableByteStreamController, chunk: Uint8Array): void {
    // Before it is handed over: a stream takes the buffer, and its length with it.
    given += chunk.byteLength;
    to.enqueue(chunk);
  }

  function end(): void {
    over = true;
    clearInterval(heart);
    leave();
  }

  /**
   * A sign of life where nothing waits to be read. Nobody tells this side of a connection that has
   * died: whoever has read nothing for several of them is gone, and may come back with its cursor.
   */
  function beat(): void {
    if (!controller || over) return;
    const waiting = BUFFER_BYTES - (controller.desiredSize ?? 0);
    const read = given - waiting;
    unread = waiting > 0 && read === taken ? unread + 1 : 0;
    taken = read;
    if (unread >= UNREAD_PINGS) {
      controller.close();
      end();
    } else if (waiting <= 0) {
      give(controller, bytes(": ping\n\n"));
    }
  }
}

function room(controller: ReadableByteStreamController, beyond = 0): boolean {
  return (controller.desiredSize ?? 0) > -beyond;
}

/** The data is JSON, which holds no line break; the type comes from a closed set. */
function frame(event: StoredEvent): string {
  return `event: ${event.type}\nid: ${event.seq}\ndata: ${event.json}\n\n`;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
