import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PREVIEW_CHARACTERS } from "../../shared/limits/http.ts";
import { createFrames } from "./frames.ts";
import { serverEvents } from "./server-events.ts";

const FRAME_MS = 16;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const delta = (text: string, index = 0) => ({
  type: "content_block_delta",
  index,
  delta: { type: "text_delta", text },
});
const STOP = { type: "content_block_stop", index: 0 };

/** Frames with a reader that takes what is due, as soon as it is. */
function reading() {
  const frames = createFrames(FRAME_MS);
  const taken: unknown[][] = [];
  const done = (async () => {
    for (;;) {
      const { events, last } = await frames.next();
      if (events.length > 0) taken.push(events);
      if (last) return;
    }
  })();
  /** One chunk of the body; resolves when its reader may go on. */
  const chunk = async (...events: unknown[]) => {
    for (const event of events) frames.add(structuredClone(event));
    await frames.chunkEnds();
  };
  return { taken, done, chunk, frames };
}

test("the first text goes at once, what follows within a frame goes as one", async () => {
  const { taken, chunk } = reading();
  await chunk(delta("One"));
  expect(taken).toEqual([[delta("One")]]);
  for (const text of [" two", " three", "", " four"]) await chunk(delta(text));
  expect(taken).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(FRAME_MS);
  expect(taken.slice(1)).toEqual([[delta(" two three four")]]);
  await vi.advanceTimersByTimeAsync(2 * FRAME_MS);
  await chunk(delta("!"));
  expect(taken.slice(2)).toEqual([[delta("!")]]);
  expect(vi.getTimerCount()).toBe(0);
});

test("only texts of one block that follow each other are joined, in their order, and nothing else waits", async () => {
  const { taken, chunk } = reading();
  await chunk(delta("0"));
  await chunk(delta("1"));
  await chunk(delta("2"), delta("3", 1), delta("4", 1), STOP);
  expect(taken.slice(1)).toEqual([[delta("12"), delta("34", 1), STOP]]);
  const thinking = { ...delta(""), delta: { type: "thinking_delta", thinking: "t" } };
  await chunk(delta("5"), thinking);
  expect(taken.slice(2)).toEqual([[delta("5"), thinking]]);
});

test("a long text does not wait for its frame", async () => {
  const { taken, chunk } = reading();
  const long = "y".repeat(PREVIEW_CHARACTERS);
  await chunk(delta("x"));
  await chunk(delta(long.slice(1)));
  expect(taken).toHaveLength(1);
  await chunk(delta("y"));
  expect(taken.slice(1)).toEqual([[delta(long)]]);
});

test("what waits comes with the end, and a reader that is slow holds the body up", async () => {
  const { taken, chunk, frames, done } = reading();
  await chunk(delta("a"));
  await chunk(delta("b"));
  frames.end();
  await done;
  expect(taken).toEqual([[delta("a")], [delta("b")]]);

  const slow = createFrames(FRAME_MS);
  slow.add(STOP);
  const room = slow.chunkEnds();
  expect(room).toBeDefined();
  let wentOn = false;
  void room?.then(() => {
    wentOn = true;
  });
  await vi.advanceTimersByTimeAsync(10 * FRAME_MS);
  expect(wentOn).toBe(false);
  expect(await slow.next()).toEqual({ events: [STOP], last: false });
  await room;
  expect(wentOn).toBe(true);
});

test("5,000 deltas at once are the same text in few pieces, and what breaks off comes behind them", async () => {
  vi.useRealTimers();
  const pieces = Array.from({ length: 5_000 }, (_, n) => `${n} \u{1F30D}`);
  const bytes = new TextEncoder().encode(
    pieces
      .map((text) => `event: content_block_delta\ndata: ${JSON.stringify(delta(text))}\n\n`)
      .join(""),
  );
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (let at = 0; at < bytes.length; at += 4_093) {
        controller.enqueue(bytes.slice(at, at + 4_093));
        await new Promise((resolve) => setImmediate(resolve));
      }
      controller.error(new Error("It broke off"));
    },
  });
  const texts: string[] = [];
  const read = async () => {
    const response = new Response(body);
    for await (const event of serverEvents(response, () => {})) {
      texts.push((event as ReturnType<typeof delta>).delta.text);
    }
  };
  await expect(read()).rejects.toThrow("It broke off");
  const all = pieces.join("");
  expect(all.startsWith(texts.join(""))).toBe(true);
  expect(texts.length).toBeLessThan(500);
});
