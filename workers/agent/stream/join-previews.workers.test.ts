import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PREVIEW_CHARACTERS } from "../../../src/shared/limits/http.ts";
import { createLog, start } from "../testing/sse-fixture.ts";
import { joinPreviews } from "./join-previews.ts";
import type { PreviewFrame } from "./preview.ts";

const FRAME_MS = 16;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const delta = (id: string, text: string, index = 0): PreviewFrame => ({
  of: "agent.message",
  id,
  body: {
    type: "event_delta",
    event_id: id,
    delta: { type: "content_delta", index, content: { type: "text", text } },
  },
});

function joiner() {
  const sent: PreviewFrame[][] = [];
  return { sent, ...joinPreviews((frames) => sent.push([...frames]), FRAME_MS) };
}

test("the first goes at once, what follows within a frame goes as one", () => {
  const { sent, add } = joiner();
  add([start("a"), delta("a", "One")]);
  expect(sent).toEqual([[start("a"), delta("a", "One")]]);
  for (const text of [" two", " three", "", " four"]) add([delta("a", text)]);
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(FRAME_MS);
  expect(sent.slice(1)).toEqual([[delta("a", " two three four")]]);
  // One that ends a frame begins the next; after a frame without any, the next goes at once.
  add([delta("a", ".")]);
  expect(sent).toHaveLength(2);
  vi.advanceTimersByTime(2 * FRAME_MS);
  add([delta("a", "!")]);
  expect(sent.slice(2)).toEqual([[delta("a", ".")], [delta("a", "!")]]);
});

test("only what follows each other in one block of one event is joined, in its order", () => {
  const { sent, add, flush } = joiner();
  const thinking: PreviewFrame = { ...start("t"), of: "agent.thinking" };
  add([start("a")]);
  add([delta("a", "1"), delta("a", "2"), thinking, delta("a", "3"), delta("a", "4", 1)]);
  add([delta("a", "5", 1), start("b"), delta("b", "6"), delta("a", "7", 1)]);
  flush();
  expect(sent[1]).toEqual([
    delta("a", "12"),
    thinking,
    delta("a", "3"),
    delta("a", "45", 1),
    start("b"),
    delta("b", "6"),
    delta("a", "7", 1),
  ]);
  vi.advanceTimersByTime(10 * FRAME_MS);
  expect(sent).toHaveLength(2);
  expect(vi.getTimerCount()).toBe(0);
});

test("a long text does not wait for its frame", () => {
  const { sent, add } = joiner();
  const long = "y".repeat(PREVIEW_CHARACTERS);
  add([delta("a", "x")]);
  add([delta("a", long.slice(1))]);
  expect(sent).toHaveLength(1);
  add([delta("a", "y")]);
  expect(sent.slice(1)).toEqual([[delta("a", long)]]);
});

test("5,000 deltas at once come to every client as the same text, in few pieces and without a read of the log", async () => {
  const log = createLog();
  const clients = [1, 2].map(() => log.open({ previews: ["agent.message"] }));
  for (const client of clients) await client.read();
  const { add, flush } = joinPreviews((frames) => {
    for (const subscriber of log.subscribers) subscriber.preview(frames);
  });
  const pieces = Array.from({ length: 5_000 }, (_, n) => `${n} \u{1F30D}`);
  const reads = log.reads.count;
  add([start("a")]);
  for (const piece of pieces) add([delta("a", piece)]);
  flush();
  expect(log.reads.count).toBe(reads);
  log.append("the end");
  for (const client of clients) {
    while (client.frames.at(-1)?.event !== "agent.message") await client.read();
    const deltas = client.frames.filter(({ event }) => event === "event_delta");
    expect(deltas.length).toBeLessThan(10);
    const texts = deltas.map(({ data }) => JSON.parse(data).delta.content.text);
    expect(texts.join("")).toBe(pieces.join(""));
    await client.cancel();
  }
});
