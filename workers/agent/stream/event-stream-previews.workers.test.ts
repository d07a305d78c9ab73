import { describe, expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import type { Client, Log } from "../testing/sse-fixture.ts";
import { BUFFER, createLog, filled, ids, settled, start } from "../testing/sse-fixture.ts";
import type { PreviewFrame } from "./preview.ts";
import { createPreview } from "./preview.ts";

const delta = (id: string, text: string): PreviewFrame => ({
  of: "agent.message",
  id,
  body: {
    type: "event_delta",
    event_id: id,
    delta: { type: "content_delta", index: 0, content: { type: "text", text } },
  },
});
const preview = (log: Log, ...frames: PreviewFrame[]) => {
  for (const subscriber of log.subscribers) subscriber.preview(frames);
};
const previewsOf = (client: Client) =>
  client.frames.filter(({ id }) => id === undefined).map(({ event, data }) => [event, data]);

describe("previews", () => {
  const previews = ["agent.message"];

  test("come to who asked for them, without an id, and are no part of a replay", async () => {
    const log = filled(2);
    const asked = log.open({ previews });
    const not = log.open();
    const thinking = log.open({ previews: ["agent.thinking"] });
    for (const client of [asked, not, thinking]) await client.readFrames(2);
    preview(log, start("a"), delta("a", "Hel"));
    preview(log, delta("a", "lo"));
    log.append();
    await asked.readFrames(6);
    for (const client of [not, thinking]) await client.readFrames(3);
    expect(previewsOf(asked)).toEqual([
      ["event_start", JSON.stringify(start("a").body)],
      ["event_delta", JSON.stringify(delta("a", "Hel").body)],
      ["event_delta", JSON.stringify(delta("a", "lo").body)],
    ]);
    expect(asked.frames.map(({ id }) => id).slice(2)).toEqual([
      undefined,
      undefined,
      undefined,
      "3",
    ]);
    expect([...previewsOf(not), ...previewsOf(thinking)]).toEqual([]);
    expect(ids(asked)).toEqual(ids(not));
    await Promise.all([asked, not, thinking].map((client) => client.cancel()));
  });

  test("do not come before the client has caught up, nor their rest afterwards", async () => {
    const log = filled(300, "y".repeat(1000));
    const client = log.open({ previews });
    await client.read();
    preview(log, start("a"), delta("a", "Hel"));
    await client.readFrames(300);
    await settled();
    preview(log, delta("a", "lo"));
    preview(log, start("b"), delta("b", "new"));
    log.append();
    while (!ids(client).includes(301)) await client.read();
    expect(previewsOf(client).map(([, data]) => data)).toEqual(
      [start("b"), delta("b", "new")].map(({ body }) => JSON.stringify(body)),
    );
    await client.cancel();
  });

  test("do not come before the replay has begun", async () => {
    const log = filled(3);
    const client = log.open({ previews });
    preview(log, start("a"), delta("a", "Hel"));
    await client.readFrames(3);
    expect(ids(client)).toEqual([1, 2, 3]);
    await client.cancel();
  });

  test("stop for good where one had to be left out: a text has no hole", async () => {
    const log = createLog();
    const client = log.open({ previews });
    await client.read();
    await settled();
    const long = "y".repeat(BUFFER);
    preview(log, start("a"), delta("a", "Hel"), delta("a", long), delta("a", "left out"));
    await client.readFrames(3);
    await settled();
    preview(log, delta("a", "after the hole"));
    log.append();
    while (!ids(client).includes(1)) await client.read();
    expect(previewsOf(client)).toHaveLength(3);
    await client.cancel();
  });

  test("of thinking in the middle of a text leave the text whole", async () => {
    const log = createLog();
    const client = log.open({ previews: ["agent.message", "agent.thinking"] });
    await client.read();
    await settled();
    const thinking: PreviewFrame = { ...start("t"), of: "agent.thinking" };
    preview(log, start("a"), delta("a", "Hel"), thinking, delta("a", "lo"));
    await client.readFrames(4);
    expect(previewsOf(client)).toHaveLength(4);
    await client.cancel();
  });

  test("do not overtake an event that was stored before them", async () => {
    const log = createLog();
    const client = log.open({ previews });
    await client.read();
    await settled();
    log.append();
    preview(log, start("a"));
    log.append();
    await client.readFrames(3);
    expect(client.frames.map(({ event }) => event)).toEqual([
      "agent.message",
      "event_start",
      "agent.message",
    ]);
    await client.cancel();
  });

  test("of a whole answer put together are the stored text", async () => {
    const log = createLog();
    const client = log.open({ previews });
    await client.read();
    await settled();
    const { frames } = createPreview(() => newId("sevt"));
    const text = 'Left\r\rdata: Right\n\nevent: done\u2028 "x" \u{1F30D}';
    for (const piece of text) preview(log, ...frames({ type: "text", block: 0, text: piece }));
    await client.readFrames(1 + [...text].length);
    const pieces = client.frames.slice(1).map(({ data }) => JSON.parse(data).delta.content.text);
    expect(pieces.join("")).toBe(text);
    await client.cancel();
  });
});
