// Reads server-sent events of a model's answer. A model speaks in pieces of a word, thousands of them
// where it is fast: what comes within a frame is handed on as one, so that a piece costs a read and
// nothing of what follows.

import { PREVIEW_FRAME_MS } from "../../shared/limits/http.ts";
import { createFrames } from "./frames.ts";
import { createEventParser } from "./parse-events.ts";

/**
 * The JSON of each event, deltas of one block that come within `frameMs` milliseconds as one. `alive` is
 * called at each chunk. Throws, behind all that came before, what `createEventParser` throws and what
 * the body throws. Reads at most a frame ahead of its reader, and cancels the body when that leaves.
 */
export async function* serverEvents(
  response: Pick<Response, "body" | "headers">,
  alive: () => void,
  frameMs: number = PREVIEW_FRAME_MS,
): AsyncGenerator<unknown, void> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const frames = createFrames(frameMs);
  const takeChunk = createEventParser(response.headers, frames.add);
  let failure: { error: unknown } | undefined;

  // On its own: the read that waits for the next chunk must not hold back a frame.
  async function readBody(): Promise<void> {
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        alive();
        takeChunk(read.value);
        const room = frames.chunkEnds();
        if (room) await room;
      }
    } catch (error) {
      failure = { error };
    }
    frames.end();
  }

  try {
    readBody();
    for (;;) {
      const { events, last } = await frames.next();
      for (const event of events) yield event;
      if (last) break;
    }
    if (failure) throw failure.error;
  } finally {
    frames.end();
    // The connection is closed by whoever made the request.
    reader.cancel().catch(() => {});
  }
}
