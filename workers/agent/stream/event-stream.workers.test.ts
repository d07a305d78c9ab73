import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { StoredEvent } from "../rows/events.ts";
import {
  BUFFER,
  clientOf,
  createLog,
  filled,
  ids,
  range,
  sentOf,
  settled,
  start,
} from "../testing/sse-fixture.ts";
import { eventStream } from "./event-stream.ts";
import type { Subscriber } from "./subscription.ts";

describe("replay and live", () => {
  test.each([0, 1, 40, 99, 100, 101, 149, 199, 249, 250])(
    "STREAM-01, -02: from %i on, each event comes once and in order, then what is new",
    async (after) => {
      const log = filled(250);
      const client = log.open({ after });
      await client.readFrames(250 - after);
      log.append();
      log.append();
      await client.readFrames(252 - after);
      expect(ids(client)).toEqual(range(after + 1, 252));
      await client.cancel();
    },
  );

  test("STREAM-02: whatever is appended between two reads, nothing overtakes or is lost", async () => {
    const move = fc.oneof(
      fc.record({
        append: fc.integer({ min: 1, max: 130 }),
        size: fc.constantFrom(1, 900, 40_000),
      }),
      fc.constant("read" as const),
      fc.constant("settle" as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(120), fc.array(move, { maxLength: 14 }), async (before, moves) => {
        const log = filled(before);
        const after = Math.floor(before / 2);
        const client = log.open({ after });
        const reads: Promise<void>[] = [];
        for (const now of moves) {
          // A read that finds nothing stays open, as a client's does.
          if (now === "read") reads.push(client.read());
          else if (now === "settle") await Promise.resolve();
          else for (let n = 0; n < now.append; n += 1) log.append("y".repeat(now.size));
        }
        const last = log.append().seq;
        await Promise.race([Promise.all(reads), settled()]);
        await client.readFrames(last - after);
        expect(ids(client)).toEqual(range(after + 1, last));
        await client.cancel();
      }),
      { numRuns: 60 },
    );
  });

  test("STREAM-03: what happened while the client was away comes, to the last event", async () => {
    const log = filled(90);
    const first = log.open();
    await first.readFrames(40);
    await first.cancel();
    log.append("the end", "session.status_idle");
    const again = log.open({ after: 40 });
    await again.readFrames(51);
    expect(ids(again)).toEqual(range(41, 91));
    expect(again.frames.at(-1)?.event).toBe("session.status_idle");
    await again.cancel();
  });

  test("STREAM-13: two clients get the same bytes of each event, live and replayed, small and large", async () => {
    const log = createLog();
    const live = log.open();
    const reading = live.readFrames(3);
    log.append("x");
    log.append("y".repeat(1_900_000));
    log.append("z");
    await reading;
    const late = log.open();
    await late.readFrames(3);
    expect(late.frames).toEqual(live.frames);
    expect(late.frames.map((frame) => frame.data)).toEqual(log.events.map((event) => event.json));
    await Promise.all([live.cancel(), late.cancel()]);
  });

  test("an event reaches a client that waits for it at once", async () => {
    const log = createLog();
    const client = log.open();
    const reading = client.readFrames(1);
    await settled();
    log.append();
    await Promise.race([reading, settled()]);
    expect(ids(client)).toEqual([1]);
    await client.cancel();
  });
});

describe("a client that does not read", () => {
  test.each([
    ["live", 2_000, 200],
    ["live", 500, 5_000],
    ["live", 40, 100_000],
    ["replayed", 2_000, 200],
    ["replayed", 500, 5_000],
    ["replayed", 40, 100_000],
    ["replayed", 1_000, 1],
  ])(
    "of %s, %i events of %i bytes, holds about one buffer and loses nothing",
    async (how, count, size) => {
      const log = filled(how === "live" ? 0 : count, "y".repeat(size));
      const client = log.open();
      for (let n = log.events.length; n < count; n += 1) {
        log.append("y".repeat(size));
        if (n % 100 === 0) await settled();
      }
      await settled();
      // With the log out of reach, what comes is what was held.
      const kept = log.events.splice(0);
      while (client.bytes < BUFFER + 2 * size) {
        const before = client.bytes;
        await Promise.race([client.read(), settled()]);
        if (client.bytes === before) break;
      }
      expect(client.bytes).toBeLessThan(BUFFER + size + 1_000);
      log.events.push(...kept);
      log.append();
      await client.readFrames(count + 1);
      expect(ids(client)).toEqual(range(1, count + 1));
      await client.cancel();
    },
  );
});

describe("the end", () => {
  test("a client that leaves is unsubscribed, and what comes later does no harm", async () => {
    const log = filled(3);
    for (const early of [true, false]) {
      const client = log.open({ previews: ["agent.message"], pingMs: 5 });
      const [subscriber] = log.subscribers;
      if (!early) await client.readFrames(3);
      await client.cancel();
      // The platform tells of it with the next write.
      await vi.waitFor(() => expect(log.subscribers.size).toBe(0));
      subscriber?.wake([]);
      subscriber?.preview([start("a")]);
      subscriber?.finish(log.append());
    }
  });

  test("one timer stands while a client waits, and none after it has left", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const log = createLog();
      const client = log.open();
      await client.read();
      expect(vi.getTimerCount()).toBe(1);
      for (let n = 1; n < 5; n += 1) {
        log.append();
        await client.readFrames(n);
      }
      expect(vi.getTimerCount()).toBe(1);
      await client.cancel();
      log.append();
      await settled();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a client that reads nothing for several signs of life is gone, and can come back", async () => {
    const log = createLog();
    const client = log.open({ pingMs: 5 });
    await client.read();
    // Its connection dies unnoticed, and then something happens.
    log.append();
    await vi.waitFor(() => expect(log.subscribers.size).toBe(0));
    log.append();
    const again = log.open({ after: 0, pingMs: 5 });
    await again.readFrames(2);
    expect(again.frames.map(({ id }) => id)).toEqual(["1", "2"]);
    await again.cancel();
    await client.readFrames(2);
    expect([client.over, client.frames.length]).toEqual([true, 1]);
  });

  test("a client that reads slowly, but reads, stays", async () => {
    const log = createLog();
    const client = log.open({ pingMs: 10 });
    for (let n = 1; n <= 12; n += 1) {
      log.append();
      await new Promise((resolve) => setTimeout(resolve, 12));
      await client.readFrames(n);
    }
    expect([log.subscribers.size, client.over]).toEqual([1, false]);
    await client.cancel();
  });

  test("a client that leaves while it waits is unsubscribed and told nothing more", async () => {
    const log = createLog();
    const client = log.open({ pingMs: 10 });
    const reading = client.readFrames(1).catch(() => undefined);
    await settled();
    await client.cancel();
    await reading;
    await vi.waitFor(() => expect(log.subscribers.size).toBe(0));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(client.comments).toEqual([": connected"]);
  });

  test.each([0, 1, 99, 100, 101, 450])(
    "finish hands over the %i events that are left, the last one too, and closes",
    async (count) => {
      const log = createLog();
      const client = log.open();
      await client.read();
      await settled();
      const kept = [...log.subscribers];
      // The log grows without a word; then it is about to be cleared.
      log.subscribers.clear();
      for (let n = 0; n < count; n += 1) log.append("y".repeat(500));
      const last = log.append("gone", "session.deleted");
      for (const subscriber of kept) subscriber.finish(last);
      log.events.length = 0;
      while (!client.over) await client.read();
      expect(ids(client)).toEqual(range(1, count + 1));
      expect(client.frames.at(-1)?.event).toBe("session.deleted");
    },
  );

  test("an event that finds the buffer full of previews comes as soon as there is room", async () => {
    const log = createLog();
    const client = log.open({ previews: ["agent.message"], pingMs: 60_000 });
    await client.read();
    await settled();
    const [subscriber] = log.subscribers;
    const begun = start("p".repeat(70_000));
    for (let n = 0; n < 3; n += 1) subscriber?.preview([begun]);
    for (let n = 0; n < 5; n += 1) log.append("y".repeat(100_000));
    const frames = await client.readFrames(6);
    expect(frames.length).toBeGreaterThanOrEqual(6);
    expect(
      ids(client)
        .filter((id) => id !== undefined)
        .at(-1),
    ).toBe(5);
    await client.cancel();
  });

  test("finish says how many events a client does not get that reads too slowly", async () => {
    const log = createLog();
    const client = log.open();
    await client.read();
    await settled();
    const kept = [...log.subscribers];
    log.subscribers.clear();
    for (let n = 0; n < 100; n += 1) log.append("y".repeat(100_000));
    const last = log.append("gone", "session.deleted");
    for (const subscriber of kept) subscriber.finish(last);
    log.events.length = 0;
    while (!client.over) await client.read();
    const got = client.frames.length - 1;
    expect(got).toBeLessThan(100);
    expect(ids(client)).toEqual([...range(1, got), 101]);
    expect(client.comments.at(-1)).toBe(`: ${100 - got} events left out`);
  });

  test("finish ends a client that waits, and forgets it", async () => {
    const log = createLog();
    const client = log.open();
    const reading = client.readFrames(9);
    await settled();
    const last = { seq: 1, id: "sevt_1", type: "session.deleted", json: "{}" };
    for (const subscriber of log.subscribers) subscriber.finish(last);
    await reading;
    expect(client.over).toBe(true);
    expect(ids(client)).toEqual([1]);
    expect(log.subscribers.size).toBe(0);
  });

  test("finish ends a client that brings its own buffer", async () => {
    const log = createLog();
    const { stream } = log.open();
    const reader = stream.getReader({ mode: "byob" });
    await reader.read(new Uint8Array(1000));
    const reading = reader.read(new Uint8Array(1000));
    await settled();
    const last = { seq: 1, id: "sevt_1", type: "session.deleted", json: "{}" };
    for (const subscriber of log.subscribers) subscriber.finish(last);
    expect((await reading).done).toBe(false);
    expect((await reader.read(new Uint8Array(1000))).done).toBe(true);
  });
});

describe("a sign of life", () => {
  test("STREAM-04: comes while nothing happens, as a comment that carries no id", async () => {
    const log = filled(1);
    const client = log.open({ pingMs: 10 });
    while (client.comments.length < 4) await client.read();
    expect(client.comments).toEqual([": connected", ": ping", ": ping", ": ping"]);
    expect(client.frames).toHaveLength(1);
    expect(client.lastId).toBe("1");
    log.append();
    await client.readFrames(2);
    expect(ids(client)).toEqual([1, 2]);
    await client.cancel();
  });

  test("does not pile up for a client that does not read", async () => {
    const log = createLog();
    const client = log.open({ pingMs: 1 });
    await new Promise((resolve) => setTimeout(resolve, 60));
    await client.read();
    expect(client.bytes).toBeLessThan(BUFFER);
    await client.cancel();
  });
});

describe("STREAM-07: one event stays one event", () => {
  test.each([
    "Left\r\rdata: Right",
    "x\n\nevent: done\ndata: {}",
    "\r\n\r\nid: 99\n\n",
    "\u2028\u2029\u0085\u0000\uFEFF",
    " leading space",
    "",
    ": ping",
    "\u{1F30D}\u{1F468}\u200D\u{1F469}",
    "half a pair \ud83c",
  ])("with %j in it", async (payload) => {
    const log = filled(1, payload);
    log.append("next");
    const client = log.open();
    await client.readFrames(2);
    expect(client.frames.map(({ id }) => id)).toEqual(["1", "2"]);
    expect(JSON.parse(client.frames[0]?.data ?? "")).toMatchObject({ seq: 1, payload });
    expect(client.comments).toEqual([": connected"]);
    await client.cancel();
  });
});

test("a stream whose log cannot be read fails, so that its client comes back", async () => {
  const log = filled(3);
  log.read = () => {
    throw new Error("no such table");
  };
  const client = clientOf(eventStream(log, { after: 0, previews: [] }));
  await expect(client.readFrames(1)).rejects.toThrow("no such table");
  expect(log.subscribers.size).toBe(0);
});

test("a stream that asks for more while it is given something gets each event once", async () => {
  const events: StoredEvent[] = [];
  let subscriber: Subscriber | undefined;
  const stream = eventStream(
    {
      read({ after, limit }) {
        const rest = events.filter((event) => event.seq > after);
        return { events: rest.slice(0, limit).map(sentOf), more: rest.length > limit };
      },
      subscribe(one) {
        subscriber = one;
        return () => {};
      },
    },
    { after: 0, previews: [] },
  );
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const seen = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id);
  const reading = (async () => {
    while (seen().length < 300) {
      const { value } = await reader.read();
      text += decoder.decode(value, { stream: true });
    }
  })();
  for (let seq = 1; seq <= 300; seq += 3) {
    const news = [seq, seq + 1, seq + 2].map((n) => ({
      seq: n,
      id: `sevt_${n}`,
      type: "x",
      json: `{"seq":${n},"pad":"${"p".repeat(900)}"}`,
    }));
    events.push(...news);
    subscriber?.wake(news);
    if (seq % 10 === 1) await Promise.resolve();
  }
  await reading;
  await reader.cancel();
  expect(seen()).toEqual(events.map((event) => String(event.seq)));
});
