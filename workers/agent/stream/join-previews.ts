// Previews of one session on their way to those who listen. A model speaks in pieces of a word; what
// comes within one frame of a screen is joined, once for all listeners.

import { PREVIEW_CHARACTERS, PREVIEW_FRAME_MS } from "../../../src/shared/limits/http.ts";
import type { PreviewFrame } from "./preview.ts";

export interface JoinedPreviews {
  /** Hands frames on: at once where the last ones left a frame ago, else with the next. */
  add(frames: readonly PreviewFrame[]): void;
  /** Hands on what waits: to be called before anything that was stored after it. */
  flush(): void;
}

/** A frame, and the text of the deltas that it has become. */
interface Waiting {
  frame: PreviewFrame;
  text: string;
}

/** Order and text stay as they are: only deltas that follow each other in one block become one. */
export function joinPreviews(
  send: (frames: readonly PreviewFrame[]) => void,
  frameMs: number = PREVIEW_FRAME_MS,
): JoinedPreviews {
  let waiting: Waiting[] = [];
  let characters = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function add(frames: readonly PreviewFrame[]): void {
    for (const frame of frames) {
      if (!extend(waiting.at(-1), frame)) waiting.push(opened(frame));
      characters += textOf(frame).length;
    }
    if (timer === undefined || characters >= PREVIEW_CHARACTERS) nextFrame();
  }

  function nextFrame(): void {
    clearTimeout(timer);
    timer = waiting.length > 0 ? setTimeout(nextFrame, frameMs) : undefined;
    flush();
  }

  function flush(): void {
    if (waiting.length === 0) return;
    const frames = waiting.map(frameOf);
    waiting = [];
    characters = 0;
    send(frames);
  }

  return { add, flush };
}

function opened(frame: PreviewFrame): Waiting {
  return { frame, text: textOf(frame) };
}

/** Adds a delta to one of the same block; false where the two are no such deltas. */
function extend(last: Waiting | undefined, { id, body }: PreviewFrame): boolean {
  if (last?.frame.body.type !== "event_delta" || body.type !== "event_delta") return false;
  if (last.frame.id !== id || last.frame.body.delta.index !== body.delta.index) return false;
  last.text += body.delta.content.text;
  return true;
}

function frameOf({ frame, text }: Waiting): PreviewFrame {
  const { body } = frame;
  if (body.type !== "event_delta") return frame;
  const content = { type: "text" as const, text };
  return { ...frame, body: { ...body, delta: { ...body.delta, content } } };
}

function textOf({ body }: PreviewFrame): string {
  return body.type === "event_delta" ? body.delta.content.text : "";
}
