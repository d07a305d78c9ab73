// One client's subscription to a session's event log. It reads the log from its own cursor, replayed
// and live events alike: nothing overtakes, is missed or comes twice, and a client that does not read
// costs one buffer. Previews go only to a client that has caught up and has room.

import { STREAM_BATCH, STREAM_PING_MS } from "../../../src/shared/limits/http.ts";
import type { EventBatch, SentEvent, StoredEvent } from "../rows/events.ts";
import type { PreviewFrame } from "./preview.ts";
import type { EventWriter } from "./writer.ts";

/** Heartbeats without progress before a client counts as gone: a connection may die unnoticed. */
const UNREAD_PINGS = 4;
/** Bytes beyond the writer's room that a session's end may still write to a slow client. */
const FINISH_BYTES = 4_000_000;

/** What a session calls on those who listen to it. */
export interface Subscriber {
  /** The log has grown by these events, in their order. */
  wake(events: readonly StoredEvent[]): void;
  preview(frames: readonly PreviewFrame[]): void;
  /**
   * The log is about to be cleared: this event is the last one. A client that reads too slowly does
   * not get all that stands before it; the writer then says how many events were left out.
   */
  finish(last: StoredEvent): void;
}

export interface EventLog {
  /**
   * Events after a number, in order, at least one where there is one; none is begun beyond `enough`
   * bytes.
   */
  read(query: { after: number; limit: number; enough: number }): EventBatch;
  /** Registers a subscriber; gives back how to undo that. */
  subscribe(subscriber: Subscriber): () => void;
}

export interface SubscriptionOptions {
  /** Number of the last event that the client has. */
  after: number;
  /** Event types whose previews are wanted. */
  previews: readonly string[];
  pingMs?: number | undefined;
}

/** What a writer calls. */
export interface Subscription {
  /** There is room: writes what is due. Nothing is written before the first call or `wake`. */
  drain(): void;
  /** The client has left. */
  cancel(): void;
}

/** Follows a log until its session finishes, the client leaves, or several heartbeats go unread. */
export function subscribe(
  log: EventLog,
  writer: EventWriter,
  { after, previews, pingMs = STREAM_PING_MS }: SubscriptionOptions,
): Subscription {
  let cursor = after;
  /** The log has nothing behind the cursor, until it says that it has grown: nothing is read. */
  let caughtUp = false;
  let over = false;
  let draining = false;
  /** By type, the id of the event whose preview is under way without a hole. */
  const previewed = new Map<string, string>();
  /** At the last heartbeat: what the client had read by then, and heartbeats without progress. */
  let readBefore = 0;
  let stalled = 0;

  const leave = log.subscribe({
    wake(events) {
      const next = caughtUp && !draining && events[0]?.seq === cursor + 1;
      caughtUp = next;
      if (next) writeNew(events);
      else drain();
    },
    preview(frames) {
      for (const frame of frames) preview(frame);
    },
    finish(last) {
      caughtUp = false;
      drain(FINISH_BYTES);
      if (over) return;
      if (cursor < last.seq) {
        const missing = last.seq - cursor - 1;
        if (missing > 0) writer.leftOut(missing);
        writer.event(sentOf(last));
      }
      close();
    },
  });
  const heart = setInterval(beat, pingMs);
  return { drain: () => drain(), cancel };

  /** Writes what the log has after the cursor while there is room, or less than `beyond` too little. */
  function drain(beyond = 0): void {
    // A writer may ask for more from within a write: the events at hand come first.
    if (draining) return;
    draining = true;
    try {
      while (!over && !caughtUp && writer.room() > -beyond) writeBatch(beyond);
    } finally {
      draining = false;
    }
  }

  /** Who waits for nothing else has the events at hand: they are not read again. */
  function writeNew(events: readonly StoredEvent[]): void {
    draining = true;
    try {
      write(events.map(sentOf), 0);
    } finally {
      draining = false;
    }
  }

  /** Reads what there is room for. Only the event that fills the buffer may overshoot it. */
  function writeBatch(beyond: number): void {
    const enough = writer.room() + beyond;
    const { events, more } = log.read({ after: cursor, limit: STREAM_BATCH, enough });
    caughtUp = !more;
    write(events, beyond);
  }

  function write(events: readonly SentEvent[], beyond: number): void {
    for (const event of events) {
      if (over) return;
      if (writer.room() <= -beyond) {
        caughtUp = false;
        return;
      }
      cursor = event.seq;
      writer.event(event);
    }
  }

  function preview(frame: PreviewFrame): void {
    const { of, id, body } = frame;
    if (!previews.includes(of)) return;
    const begun = body.type === "event_start" || previewed.get(of) === id;
    // Without its beginning, or after a hole, the rest of a preview means nothing.
    previewed.delete(of);
    if (over || !caughtUp || !begun || writer.room() <= 0) return;
    previewed.set(of, id);
    writer.preview(frame);
  }

  /**
   * A heartbeat where nothing waits to be read. Nobody tells this side of a connection that has died:
   * a client that has read nothing for several of them is gone, and may come back with its cursor.
   */
  function beat(): void {
    const [unread, read] = [writer.unread(), writer.read()];
    stalled = unread > 0 && read === readBefore ? stalled + 1 : 0;
    readBefore = read;
    if (stalled >= UNREAD_PINGS) close();
    else if (unread <= 0) writer.ping();
  }

  function close(): void {
    cancel();
    writer.close();
  }

  function cancel(): void {
    over = true;
    clearInterval(heart);
    leave();
  }
}

/** One that is at hand as text. */
function sentOf({ json, ...event }: StoredEvent): SentEvent {
  return { ...event, head: json };
}
