// The subscription by itself, with a writer that is no stream: as another transport would be.

import { describe, expect, test, vi } from "vitest";
import type { Log } from "../testing/sse-fixture.ts";
import { createLog, filled, jsonOf, range, start } from "../testing/sse-fixture.ts";
import type { SubscriptionOptions } from "./subscription.ts";
import { subscribe } from "./subscription.ts";
import type { EventWriter } from "./writer.ts";

type Written = number | string;

/** A client that takes whole messages and says how many it has read, as one of a WebSocket would. */
function memoryWriter(capacity: number) {
  const written: Written[] = [];
  let [sent, read] = [0, 0];
  /** Each message counts as one byte, an event as the payload that it carries. */
  const write = (message: Written, size = 1) => {
    written.push(message);
    sent += size;
  };
  const writer: EventWriter = {
    room: () => capacity - (sent - read),
    unread: () => sent - read,
    read: () => read,
    event: (event) => write(event.seq, JSON.parse(jsonOf(event)).payload.length),
    preview: ({ body, id }) => write(`${body.type} ${id}`),
    leftOut: (count) => write(`left out ${count}`),
    ping: () => write("ping"),
    close: () => write("closed", 0),
  };
  return {
    writer,
    written,
    /** The client reads everything; whoever holds the subscription then drains it. */
    readAll() {
      read = sent;
    },
  };
}

function open(log: Log, capacity = 100, options: Partial<SubscriptionOptions> = {}) {
  const client = memoryWriter(capacity);
  const subscription = subscribe(log, client.writer, { after: 0, previews: [], ...options });
  return { ...client, ...subscription };
}

describe("a subscription", () => {
  test("replays from its cursor, then goes on live, each event once and in order", () => {
    const log = filled(250);
    const client = open(log, 1_000, { after: 120 });
    expect(client.written).toEqual([]);
    client.drain();
    log.append();
    log.append();
    client.drain();
    expect(client.written).toEqual(range(121, 252));
    client.cancel();
  });

  test("writes only while there is room, and goes on where it stopped", () => {
    const log = filled(30, "y".repeat(10));
    const client = open(log, 95);
    client.drain();
    // The event that fills the buffer may overshoot it.
    expect(client.written).toEqual(range(1, 10));
    log.append("y");
    client.drain();
    expect(client.written).toHaveLength(10);
    for (let n = 0; n < 4; n += 1) {
      client.readAll();
      client.drain();
    }
    expect(client.written).toEqual(range(1, 31));
    client.cancel();
  });

  test("reads the log for what it has not at hand, and not where it is only asked for more", () => {
    const log = filled(250);
    const client = open(log, 1_000, { previews: ["agent.message"] });
    client.drain();
    expect(client.written).toHaveLength(250);
    const read = log.reads.count;
    for (let n = 0; n < 100; n += 1) {
      client.drain();
      for (const subscriber of log.subscribers) subscriber.preview([start(`m${n}`)]);
    }
    expect(log.reads.count).toBe(read);
    log.append();
    expect(client.written.at(-1)).toBe(251);
    expect(log.reads.count).toBe(read);
    // What it is told of does not follow what it has: the log has what is between.
    const [subscriber] = log.subscribers;
    log.subscribers.clear();
    log.append();
    const last = log.append();
    subscriber?.wake([last]);
    expect(client.written.slice(-3)).toEqual([251, 252, 253]);
    expect(log.reads.count).toBe(read + 1);
    // Told twice it is written once.
    subscriber?.wake([last]);
    expect(client.written.slice(-2)).toEqual([252, 253]);
    client.cancel();
  });

  test("takes what it is told while it has room, and reads the rest when there is room again", () => {
    const log = filled(1);
    const client = open(log, 4);
    client.drain();
    for (let n = 0; n < 6; n += 1) log.append();
    expect(client.written).toEqual(range(1, 4));
    client.readAll();
    client.drain();
    client.readAll();
    client.drain();
    expect(client.written).toEqual(range(1, 7));
    client.cancel();
  });

  test("gives previews to who asked, has caught up and has room", () => {
    const log = filled(5, "y".repeat(10));
    const client = open(log, 25, { previews: ["agent.message"] });
    const preview = (id: string, frame = start(id)) => {
      for (const subscriber of log.subscribers) subscriber.preview([frame]);
    };
    preview("before the replay");
    client.drain();
    client.readAll();
    preview("behind");
    client.drain();
    client.readAll();
    preview("in time");
    preview("not asked for", { ...start("t"), of: "agent.thinking" });
    log.append("y".repeat(30));
    preview("no room");
    expect(client.written).toEqual([1, 2, 3, 4, 5, "event_start in time", 6]);
    client.cancel();
  });

  test("ends with the log's last event, and says what it leaves out", () => {
    const log = createLog();
    const client = open(log, 10);
    const [subscriber] = log.subscribers;
    for (let n = 0; n < 5; n += 1) log.append("y".repeat(3_000_000));
    subscriber?.finish(log.append("gone", "session.deleted"));
    expect(client.written).toEqual([1, 2, "left out 3", 6, "closed"]);
    expect(log.subscribers.size).toBe(0);
    subscriber?.wake([]);
    subscriber?.finish(log.append());
    client.drain();
    expect(client.written.at(-1)).toBe("closed");
  });

  test("has a heartbeat where nothing waits, and closes where nothing is read for several", () => {
    vi.useFakeTimers();
    try {
      const log = createLog();
      const client = open(log, 100, { pingMs: 10 });
      vi.advanceTimersByTime(10);
      expect(client.written).toEqual(["ping"]);
      client.readAll();
      log.append();
      // One that reads something between two of them stays.
      for (let n = 0; n < 9; n += 1) {
        vi.advanceTimersByTime(30);
        client.readAll();
        log.append();
      }
      expect(log.subscribers.size).toBe(1);
      vi.advanceTimersByTime(50);
      expect(client.written.at(-1)).toBe("closed");
      expect(client.written.filter((message) => message === "ping")).toHaveLength(1);
      expect([log.subscribers.size, vi.getTimerCount()]).toEqual([0, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("writes nothing once its client has left, and does not close what is gone", () => {
    const log = filled(2);
    const client = open(log);
    const [subscriber] = log.subscribers;
    client.cancel();
    client.drain();
    subscriber?.wake([]);
    subscriber?.preview([start("a")]);
    subscriber?.finish(log.append());
    expect(client.written).toEqual([]);
    expect(log.subscribers.size).toBe(0);
  });

  test("takes a client that leaves while an event is written to it", () => {
    const log = filled(5);
    const { writer, written } = memoryWriter(100);
    const leaving: EventWriter = {
      ...writer,
      event(event) {
        writer.event(event);
        if (event.seq === 2) subscription.cancel();
      },
    };
    const subscription = subscribe(log, leaving, { after: 0, previews: [] });
    subscription.drain();
    expect(written).toEqual([1, 2]);
  });
});
