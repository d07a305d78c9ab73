import { APIError } from "@anthropic-ai/sdk/error";
import { expect, test } from "vitest";
import { serverEvents } from "./server-events.ts";

const encoder = new TextEncoder();
const message = (event: string, data: unknown) =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const deltaOf = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
const text = (piece: string, index = 0) => deltaOf(index, { type: "text_delta", text: piece });
const sent = (event: { type: string }) => message(event.type, event);

/** What is read of a body in these pieces, how often it was alive, and how it ended. */
async function read(pieces: readonly (string | Uint8Array)[]) {
  const seen: unknown[] = [];
  let alive = 0;
  let error: unknown;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) {
        controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
      }
      controller.close();
    },
  });
  try {
    const events = serverEvents(new Response(body), () => {
      alive += 1;
    });
    for await (const event of events) seen.push(event);
  } catch (thrown) {
    error = thrown;
  }
  return { seen, alive, error };
}

test("deltas of one block that come together are one, with the whole text", async () => {
  const json = (piece: string) => deltaOf(1, { type: "input_json_delta", partial_json: piece });
  const stop = { type: "content_block_stop", index: 0 };
  const together = [text("a"), text("b"), text("", 0), text("c"), stop, json('{"x"'), json(":1}")];
  const { seen, alive } = await read([together.map(sent).join(""), sent(text("d", 2))]);
  expect(seen).toEqual([text("abc"), stop, json('{"x":1}'), text("d", 2)]);
  expect(alive).toBe(2);
});

test("what is not one text stays apart: other blocks, other kinds, and what has no text", async () => {
  const thinking = deltaOf(0, { type: "thinking_delta", thinking: "t" });
  const signature = deltaOf(0, { type: "signature_delta", signature: "s" });
  const odd = [deltaOf(0, { type: "text_delta", text: 1 }), deltaOf(0, {}), { type: "other" }];
  const apart = [text("a"), text("b", 1), text("c"), thinking, signature, signature, ...odd];
  expect((await read([apart.map(sent).join("")])).seen).toEqual(apart);
});

const WIDE = "Gr\u00fc\u00dfe \u{1F30D}\u2028 \\n";
test.each(["\n", "\r\n", "\r"])("lines end with %j, wherever a chunk ends", async (end) => {
  const stop = { type: "message_stop" };
  const lines = `${sent(text(WIDE))}: a comment\n\n${message("ping", {})}${sent(stop)}`;
  const bytes = encoder.encode(lines.replaceAll("\n", end));
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.slice(at, at + size));
    // A last line that ends with \r waits for what follows.
    expect((await read([...pieces, end])).seen).toEqual([text(WIDE), stop]);
  }
});

test("what has no name, no data or no end is no event", async () => {
  const whole = sent(text("a"));
  const { seen } = await read([`data: {"type":"x"}\n\nevent: y\n\n${whole}event: z\ndata: {}\n`]);
  expect(seen).toEqual([text("a")]);
});

test.each<[string, string, (error: unknown) => boolean]>([
  [
    "an error",
    message("error", { type: "error", error: { type: "overloaded_error", message: "PRIVATE" } }),
    (error) => error instanceof APIError && error.type === "overloaded_error",
  ],
  ["an error that is no JSON", "event: error\ndata: PRIVATE\n\n", (e) => e instanceof APIError],
  ["an event that is no JSON", "event: x\ndata: {PRI\n\n", (e) => e instanceof SyntaxError],
])("%s ends the stream behind what came before it", async (_what, wrong, is) => {
  const { seen, error } = await read([sent(text("a")) + sent(text("b")) + wrong + sent(text("c"))]);
  expect(seen).toEqual([text("ab")]);
  expect(is(error)).toBe(true);
  if (error instanceof APIError) expect(error.message).not.toContain("PRIVATE");
});

test("a body whose reader leaves is cancelled", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(encoder.encode(sent(text("a")))),
    cancel: () => {
      cancelled = true;
    },
  });
  for await (const _event of serverEvents(new Response(body), () => {})) break;
  expect(cancelled).toBe(true);
});
