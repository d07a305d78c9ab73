import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import type { ModelEvent } from "../../../src/shared/loop/model.ts";
import { createPreview } from "./preview.ts";

const text = (value: string, block = 0): ModelEvent => ({ type: "text", block, text: value });
const bodies = (events: ModelEvent[], preview = createPreview(() => newId("sevt"))) =>
  events.flatMap((event) => preview.frames(event).map(({ body }) => body));

test("the first text announces the message under its id; each text is a delta of it", () => {
  const preview = createPreview(() => newId("sevt"));
  const found = bodies([{ type: "text_start", block: 0 }, text("Hel"), text("lo")], preview);
  const id = preview.messageId();
  expect(id).toMatch(/^sevt_.{24}$/);
  const delta = (value: string) => ({
    type: "content_delta",
    index: 0,
    content: { type: "text", text: value },
  });
  expect(found).toEqual([
    { type: "event_start", event: { id, type: "agent.message" } },
    { type: "event_delta", event_id: id, delta: delta("Hel") },
    { type: "event_delta", event_id: id, delta: delta("lo") },
  ]);
});

test("nothing is announced where nothing is said", () => {
  const preview = createPreview(() => newId("sevt"));
  const call = { id: "a", name: "Read", input: {} };
  expect(
    bodies(
      [
        { type: "text_start", block: 0 },
        { type: "call", call },
      ],
      preview,
    ),
  ).toEqual([]);
  expect(preview.messageId()).toBeUndefined();
  expect(preview.thinkingId()).toBeUndefined();
});

test("blocks are counted as the stored message counts them: those of text, from 0", () => {
  const found = bodies([text("a", 1), text("b", 4), text("c", 4), text("d", 1)]);
  expect(found.slice(1)).toMatchObject([0, 1, 1, 0].map((index) => ({ delta: { index } })));
});

test("a block of white space, which is not stored, is neither announced nor counted", () => {
  const preview = createPreview(() => newId("sevt"));
  expect(bodies([text(" "), text("\n")], preview)).toEqual([]);
  expect(preview.messageId()).toBeUndefined();
  const found = bodies([text("Hi", 2)], preview);
  expect(found).toMatchObject([{ type: "event_start" }, { delta: { index: 0 } }]);
});

test("white space before the first word comes with it", () => {
  const found = bodies([text("\n"), text(" "), text("Hi"), text(" "), text("you")]);
  const texts = found.slice(1).map((body) => JSON.parse(JSON.stringify(body)).delta.content.text);
  expect(texts).toEqual(["\n Hi", " ", "you"]);
});

test("thinking is announced once, and has no deltas", () => {
  const preview = createPreview(() => newId("sevt"));
  const thinking: ModelEvent = { type: "thinking_start", block: 0 };
  const found = bodies([thinking, { ...thinking, block: 2 }], preview);
  expect(found).toEqual([
    { type: "event_start", event: { id: preview.thinkingId(), type: "agent.thinking" } },
  ]);
});

test("two answers have ids of their own", () => {
  const [one, two] = [createPreview(() => newId("sevt")), createPreview(() => newId("sevt"))];
  bodies([text("a")], one);
  bodies([text("a")], two);
  expect(one.messageId()).not.toBe(two.messageId());
});
