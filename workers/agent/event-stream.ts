// Server-sent events of one session. A subscriber reads the log behind its own cursor, replayed and
// live events alike: so nothing can overtake, be missed or come twice, and a client that does not
// read costs one buffer. Previews go only to those who have caught up and have room.

import { STREAM_BATCH, STREAM_PING_MS } from "../../src/shared/limits.ts";
import type { StoredEvent } from "./events.ts";
import type { PreviewFrame } from "./preview.ts";

/** Bytes that wait for a client before nothing more is read for it. */
const BUFFER_BYTES = 65_536;

export interface Subscriber {
  /** There is something new in the log. */
  wake(): void;
  preview(frames: readonly PreviewFrame[]): void;
  /** The log is about to be cleared: this event is the last one. */
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
  let previewed: unknown;
  let news: (() => void) | undefined;

  const subscriber: Subscriber = {
    wake() {
      caughtUp = false;
      if (drain()) news?.();
    },
    preview(frames) {
      for (const { of, type, body, id } of frames) {
        if (!controller || !caughtUp || !previews.includes(of) || !room(controller)) continue;
        // Without its beginning the rest of a preview means nothing.
        if (type === "event_delta" && previewed !== id) continue;
        previewed = id;
        controller.enqueue(bytes(`event: ${type}\ndata: ${JSON.stringify(body)}\n\n`));
      }
    },
    finish(last) {
      drain();
      if (controller && !over && cursor < last.seq) controller.enqueue(bytes(frame(last)));
      if (!over) controller?.close();
      end();
    },
  };
  const leave = subscribe(subscriber);

  return new ReadableStream(
    {
      type: "bytes",
      start(opened) {
        controller = opened;
        opened.enqueue(bytes(": connected\n\n"));
      },
      async pull(opened) {
        if (over || drain()) return;
        if ((await woken()) || over) return;
        opened.enqueue(bytes(": ping\n\n"));
      },
      cancel: end,
    },
    { highWaterMark: BUFFER_BYTES },
  );

  /** Hands over what the log has behind the cursor, while there is room; true if that was anything. */
  function drain(): boolean {
    let any = false;
    while (controller && !over && room(controller)) {
      const batch = read(cursor, STREAM_BATCH);
      caughtUp = batch.length < STREAM_BATCH;
      if (batch.length === 0) break;
      controller.enqueue(bytes(batch.map(frame).join("")));
      cursor = batch.at(-1)?.seq ?? cursor;
      any = true;
      if (caughtUp) break;
    }
    return any;
  }

  function end(): void {
    over = true;
    leave();
    news?.();
  }

  /** True when something happened, false when it is time for a sign of life. */
  function woken(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(false), pingMs);
      const settle = (value: boolean) => {
        clearTimeout(timer);
        news = undefined;
        resolve(value);
      };
      news = () => settle(true);
    });
  }
}

function room(controller: ReadableByteStreamController): boolean {
  return (controller.desiredSize ?? 0) > 0;
}

/** The data is JSON, which holds no line break; the type comes from a closed set. */
function frame(event: StoredEvent): string {
  return `event: ${event.type}\nid: ${event.seq}\ndata: ${event.json}\n\n`;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
