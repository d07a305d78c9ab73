import { PREVIEW_CHARACTERS } from "../../shared/limits/http.ts";
import { isRecord } from "./event.ts";

/** Deltas that are parts of one text, by their type: the field that holds it. */
const TEXTS: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
};

export interface Frames {
  /** Takes an event; a delta becomes part of the one before it where both are parts of one text. */
  add(event: unknown): void;
  /** What came together is complete. Where it is due and not taken yet, settles when it is. */
  chunkEnds(): Promise<void> | undefined;
  /** Nothing follows. May be called twice. */
  end(): void;
  /** The next events when they are due, at once where nothing follows; `last` where none comes after. */
  next(): Promise<{ events: unknown[]; last: boolean }>;
}

/**
 * Joins the text that comes within `frameMs` milliseconds. Only text waits, for more of it: the first
 * piece goes at once, as does all that waits when something else comes or when it is long.
 */
export function createFrames(frameMs: number): Frames {
  let waiting: unknown[] = [];
  /** The newest of them, where it is part of a text. */
  let text: Delta | undefined;
  let due = false;
  let ended = false;
  /** Whether there is text among them, and when text was taken last. */
  let hasText = false;
  let textAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Set where somebody waits: for what is next, and until it is taken. */
  let wake: (() => void) | undefined;
  let goOn: (() => void) | undefined;

  function add(event: unknown): void {
    const delta = deltaOf(event);
    hasText ||= delta !== undefined;
    if (text && delta && text.index === delta.index && text.field === delta.field) {
      text.parts[text.field] = textOf(text) + textOf(delta);
      return;
    }
    waiting.push(event);
    text = delta;
  }

  function chunkEnds(): Promise<void> | undefined {
    if (waiting.length === 0 || ended) return undefined;
    const mayWait = waiting.length === 1 && text && textOf(text).length < PREVIEW_CHARACTERS;
    const left = mayWait ? textAt + frameMs - performance.now() : 0;
    if (left > 0) {
      timer ??= setTimeout(hand, left);
      return undefined;
    }
    hand();
    return new Promise((resolve) => {
      goOn = resolve;
    });
  }

  function hand(): void {
    due = true;
    wake?.();
  }

  function end(): void {
    ended = true;
    clearTimeout(timer);
    wake?.();
    goOn?.();
  }

  async function next(): Promise<{ events: unknown[]; last: boolean }> {
    if (!due && !ended) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    clearTimeout(timer);
    timer = undefined;
    const taken = { events: waiting, last: ended };
    if (hasText) textAt = performance.now();
    waiting = [];
    text = undefined;
    hasText = false;
    due = false;
    goOn?.();
    return taken;
  }

  return { add, chunkEnds, end, next };
}

interface Delta {
  index: unknown;
  /** Name of the field with the text; it differs with the kind of the text. */
  field: string;
  parts: Record<string, unknown>;
}

function deltaOf(event: unknown): Delta | undefined {
  if (!isRecord(event) || event.type !== "content_block_delta") return undefined;
  const { index, delta: parts } = event;
  if (!isRecord(parts) || typeof parts.type !== "string") return undefined;
  const field = TEXTS[parts.type];
  if (field === undefined || typeof parts[field] !== "string") return undefined;
  return { index, field, parts };
}

function textOf({ parts, field }: Delta): string {
  const text = parts[field];
  return typeof text === "string" ? text : "";
}
