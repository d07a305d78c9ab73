import { describe, expect, it } from "vitest";
import { createSseParser, readSse, type SseFrame } from "./sse.ts";

const FIXTURE = [
  ": ping",
  "event: agent.message",
  "id: 7",
  'data: {"text":"naïve ☕ 🧠"}',
  "",
  "event:event_delta",
  "data: first",
  "data:second",
  "data",
  ":comment in a frame",
  "data:  two spaces",
  "retry: 10",
  "",
  "",
  "id: 8",
  "",
  "data: a: b",
  "",
  "",
].join("\n");

const FRAMES: SseFrame[] = [
  { event: "agent.message", id: "7", data: '{"text":"naïve ☕ 🧠"}' },
  { event: "event_delta", id: undefined, data: "first\nsecond\n\n two spaces" },
  { event: "message", id: undefined, data: "a: b" },
];

function parseAll(chunks: string[]): SseFrame[] {
  const parse = createSseParser();
  return chunks.flatMap((chunk) => parse(chunk));
}

function streamOf(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

describe("createSseParser", () => {
  for (const [name, end] of [
    ["LF", "\n"],
    ["CR", "\r"],
    ["CRLF", "\r\n"],
  ] as const) {
    it(`reads the same frames wherever a text with ${name} is cut`, () => {
      const text = FIXTURE.replaceAll("\n", end);
      for (let at = 0; at <= text.length; at++) {
        expect(parseAll([text.slice(0, at), text.slice(at)]), `cut at ${at}`).toEqual(FRAMES);
      }
      expect(parseAll([...text])).toEqual(FRAMES);
    });
  }

  it("takes a CR, an empty chunk and a LF as one line end", () => {
    expect(parseAll(["data: a\r", "", "\ndata: b\r", "\n\r", "\n"])).toEqual([
      { event: "message", id: undefined, data: "a\nb" },
    ]);
  });

  it("gives a frame as soon as its blank line is there", () => {
    const parse = createSseParser();
    expect(parse("data: a\n")).toEqual([]);
    expect(parse("\n")).toHaveLength(1);
  });

  it("gives nothing for comments and for frames without data", () => {
    expect(parseAll([": ping\n\n: ping\n\nevent: x\nid: 3\n\n"])).toEqual([]);
  });

  it("does not carry the id or the event name to the next frame", () => {
    expect(parseAll(["event: x\nid: 3\ndata: a\n\ndata: b\n\n"])[1]).toEqual({
      event: "message",
      id: undefined,
      data: "b",
    });
  });

  it("keeps back a frame whose blank line never came", () => {
    expect(parseAll(["data: a\n\ndata: cut\n"]).map((frame) => frame.data)).toEqual(["a"]);
    expect(parseAll(["data: a\n\ndata: cut"]).map((frame) => frame.data)).toEqual(["a"]);
  });
});

describe("readSse", () => {
  it("puts characters together that are split over two chunks", async () => {
    const bytes = new TextEncoder().encode(FIXTURE);
    for (let at = 0; at <= bytes.length; at++) {
      const frames: SseFrame[] = [];
      const stream = streamOf([bytes.slice(0, at), bytes.slice(at)]);
      for await (const frame of readSse(stream)) frames.push(frame);
      expect(frames, `cut at byte ${at}`).toEqual(FRAMES);
    }
  });

  it("reads a stream of single bytes", async () => {
    const bytes = [...new TextEncoder().encode(FIXTURE)].map((byte) => Uint8Array.of(byte));
    const frames: SseFrame[] = [];
    for await (const frame of readSse(streamOf(bytes))) frames.push(frame);
    expect(frames).toEqual(FRAMES);
  });
});
