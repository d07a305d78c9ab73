// The queue's consumer alone, over batches made by hand: each message is answered for by itself.

import { afterEach, expect, test, vi } from "vitest";
import { QUEUE_DELAY_MOST_S } from "../shared/limits/extraction.ts";
import { consumeWork, type ExtractWork, sendWork, type WorkHandler } from "./queue.ts";

const logged = vi.spyOn(console, "log").mockImplementation(() => {});
afterEach(() => logged.mockClear());

test("QUEUE-01: one that fails every time is put off alone; its neighbours are done, once", async () => {
  const run = vi.fn(async ({ session }: ExtractWork) => {
    if (session === "s2") throw new Error("poison");
    return { status: "done" as const };
  });
  const messages = ["s1", "s2", "s3"].map((session) => message({ ...work, session }));
  await consumeWork(batch(messages), handler({ run }));
  expect(run.mock.calls.map(([{ session }]) => session)).toEqual(["s1", "s2", "s3"]);
  expect(messages.map(({ said }) => said)).toEqual([["ack"], ["retry 10"], ["ack"]]);
});

test("a neighbour that never comes back does not hold up the others", async () => {
  const run = ({ session }: ExtractWork) =>
    session === "s1" ? new Promise<never>(() => {}) : Promise.resolve({ status: "done" as const });
  const messages = ["s1", "s2"].map((session) => message({ ...work, session }));
  consumeWork(batch(messages), handler({ run }));
  await vi.waitFor(() => expect(messages[1]?.said).toEqual(["ack"]));
  expect(messages[0]?.said).toEqual([]);
});

test("QUEUE-02: a failure waits longer each time, up to a limit, and its tries are in the log", async () => {
  const run = async () => {
    throw new TypeError("about something private");
  };
  const messages = [1, 2, 3, 20].map((attempts) => message(work, attempts));
  await consumeWork(batch(messages), handler({ run }));
  expect(messages.map(({ said }) => said)).toEqual([
    ["retry 10"],
    ["retry 20"],
    ["retry 40"],
    [`retry ${QUEUE_DELAY_MOST_S}`],
  ]);
  expect(lines()).toMatchObject([1, 2, 3, 20].map((tries) => ({ event: "work.failed", tries })));
  expect(JSON.stringify(lines())).not.toContain("private");
});

test("QUEUE-02: work that asks to be tried again is put off as long as it says, within the limit", async () => {
  const asked = [1, 1_500, 60_000, 7 * 24 * 3_600_000];
  const messages = asked.map((afterMs) => message({ ...work, session: String(afterMs) }));
  const run = async ({ session }: ExtractWork) => ({
    status: "retry" as const,
    afterMs: Number(session),
  });
  await consumeWork(batch(messages), handler({ run }));
  expect(messages.flatMap(({ said }) => said)).toEqual([
    "retry 1",
    "retry 2",
    "retry 60",
    `retry ${QUEUE_DELAY_MOST_S}`,
  ]);
});

test("QUEUE-02: what cannot be read is recorded and goes no further", async () => {
  const { session: _session, ...incomplete } = work;
  const bodies = [undefined, null, "text", {}, incomplete, { ...work, kind: "other" }];
  const wrong = [
    { ...work, upTo: 0 },
    { ...work, upTo: 1.5 },
    { ...work, tenant: "" },
  ];
  const odd = [{ ...work, messages: ["the transcript"] }, new Map(Object.entries(work))];
  const messages = [...bodies, ...wrong, ...odd].map((body) => message(body));
  const run = vi.fn(async () => ({ status: "done" as const }));
  const giveUp = vi.fn(async () => {});
  await consumeWork(batch(messages), { run, giveUp });
  expect(messages.every(({ said }) => said.join() === "ack")).toBe(true);
  expect(lines()).toHaveLength(messages.length);
  expect(lines()).toMatchObject(messages.map(() => ({ event: "work.dead", reason: "unreadable" })));
  await consumeWork(batch(messages, "memdir-work-dead"), { run, giveUp });
  expect(messages.every(({ said }) => said.join() === "ack,ack")).toBe(true);
  expect(run).not.toHaveBeenCalled();
  expect(giveUp).not.toHaveBeenCalled();
});

test("QUEUE-01: what was tried too often is recorded and its owner told; never run again", async () => {
  const run = vi.fn(async () => ({ status: "done" as const }));
  const giveUp = vi.fn(async ({ session }: ExtractWork) => {
    if (session === "s2") throw new Error("not now");
  });
  const messages = ["s1", "s2", "s3"].map((session) => message({ ...work, session }));
  await consumeWork(batch(messages, "memdir-work-dead"), { run, giveUp });
  expect(run).not.toHaveBeenCalled();
  expect(giveUp).toHaveBeenCalledTimes(3);
  expect(messages.map(({ said }) => said)).toEqual([
    ["ack"],
    [`retry ${QUEUE_DELAY_MOST_S}`],
    ["ack"],
  ]);
  expect(lines().filter(({ event }) => event === "work.dead")).toHaveLength(3);
});

test("QUEUE-03: a message points to its work: under 2 KB, as JSON, and nothing else fits in", async () => {
  const sent: [unknown, unknown][] = [];
  const queue = {
    send: async (...args: [unknown, unknown]) => {
      sent.push(args);
    },
  } as unknown as Queue;
  // The longest name that a token may carry, of characters of three bytes.
  const long = "名".repeat(128);
  await sendWork(queue, { ...work, tenant: long, user: long, upTo: Number.MAX_SAFE_INTEGER });
  expect(sent[0]?.[1]).toEqual({ contentType: "json" });
  const body = JSON.stringify(sent[0]?.[0]);
  expect(new TextEncoder().encode(body).length).toBeLessThan(2_048);
  // What was sent is what is read.
  const run = vi.fn(async () => ({ status: "done" as const }));
  await consumeWork(batch([message(JSON.parse(body))]), handler({ run }));
  expect(run).toHaveBeenCalledWith(sent[0]?.[0]);

  const transcript = { ...work, messages: ["x".repeat(130_000)] };
  for (const wrong of [transcript, { ...work, session: "" }, { ...work, upTo: undefined, x: 1 }]) {
    await expect(sendWork(queue, wrong)).rejects.toThrow();
  }
  expect(sent).toHaveLength(1);
});

const work = {
  kind: "extract",
  tenant: "acme",
  user: "ann",
  session: "sesn_1234567890abcdef12345678",
  store: "memstore_1234567890abcdef12345678",
} as const;

interface Told extends Message {
  said: string[];
}

function message(body: unknown, attempts = 1): Told {
  const said: string[] = [];
  return {
    id: "m",
    timestamp: new Date(0),
    body,
    attempts,
    said,
    ack: () => said.push("ack"),
    retry: ({ delaySeconds } = {}) => said.push(`retry ${delaySeconds}`),
  } as Told;
}

function batch(messages: Told[], queue = "memdir-work"): MessageBatch {
  const nobody = () => {
    throw new Error("All at once is nobody's business");
  };
  return { queue, messages, ackAll: nobody, retryAll: nobody } as unknown as MessageBatch;
}

function handler(own: Partial<WorkHandler>): WorkHandler {
  const never = async () => {
    throw new Error("not asked for");
  };
  return { run: never, giveUp: never, ...own };
}

function lines(): Record<string, unknown>[] {
  return logged.mock.calls.map(([line]): Record<string, unknown> => JSON.parse(String(line)));
}
