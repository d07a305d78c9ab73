// Follows one session for as long as the page shows it. Order: connect, then (without a cursor) read
// the newest events, then the stream; so nothing falls between the two. Every event from there on is
// given out once, by seq. A lost connection resumes from the last seq.
import { type Api, ApiError } from "./api.ts";
import { backoff, wait } from "./backoff.ts";
import { type Preview, parseEvent, parsePreview, type SessionEvent } from "./event.ts";
import { eventsPath, type NewestEvents, readNewest } from "./events.ts";
import { readSse, type SseFrame } from "./sse.ts";

export type FollowListener = {
  event: (event: SessionEvent) => void;
  preview: (preview: Preview) => void;
  connecting: () => void;
  /** Where the session is begun with: its events follow, what was before them is left to be asked for. */
  newest: (newest: NewestEvents) => void;
  connected: () => void;
  /** The connection is gone; previews are frozen until their message comes. */
  lost: (retryInMs: number) => void;
  /** The service no longer knows our cursor: everything will be given out again. */
  reset: () => void;
};

/** The service pings far more often; longer silence is a dead connection. */
const SILENCE_MS = 60_000;
/** A connection that lived this long was a good one: its loss starts the back-off anew. */
const HEALTHY_MS = 10_000;

/** Resolves when the signal aborts or the session was deleted; throws what no retry can heal. */
export async function followSession(
  api: Api,
  sessionId: string,
  listener: FollowListener,
  signal: AbortSignal,
): Promise<void> {
  let last = 0;
  let deleted = false;
  let attempt = 0;

  const take = (event: SessionEvent) => {
    if (event.seq <= last) return;
    last = event.seq;
    if (event.kind === "deleted") deleted = true;
    listener.event(event);
  };

  while (!signal.aborted && !deleted) {
    const opened = performance.now();
    listener.connecting();
    try {
      for await (const frame of openStream(
        api,
        sessionId,
        last,
        listener.newest,
        take,
        listener.connected,
        signal,
      )) {
        attempt = 0;
        const body = parseBody(frame);
        const preview = parsePreview(body);
        if (preview) listener.preview(preview);
        else take(parseEvent(body, frame.id));
        if (deleted) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 400 && last > 0) {
        last = 0;
        listener.reset();
      } else if (error instanceof ApiError && isFinal(error.status)) throw error;
    }
    if (signal.aborted || deleted) return;
    if (performance.now() - opened > HEALTHY_MS) attempt = 0;
    const delay = backoff(attempt++);
    listener.lost(delay);
    await wait(delay, signal);
  }
}

async function* openStream(
  api: Api,
  sessionId: string,
  last: number,
  begin: (newest: NewestEvents) => void,
  take: (event: SessionEvent) => void,
  connected: () => void,
  signal: AbortSignal,
): AsyncGenerator<SseFrame> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  const either = AbortSignal.any([signal, silence.signal]);
  try {
    const query = `?${last > 0 ? `after=${last}&` : ""}event_deltas[]=agent.message`;
    const response = await api(`${eventsPath(sessionId)}/stream${query}`, {
      headers: { accept: "text/event-stream" },
      signal: either,
    });
    if (last === 0) {
      const newest = await readNewest(api, sessionId, either);
      begin(newest);
      for (const event of newest.events) take(event);
    }
    connected();
    heard();
    if (response.body) yield* readSse(response.body, heard);
  } finally {
    clearTimeout(timer);
  }
}

function parseBody(frame: SseFrame): unknown {
  try {
    return JSON.parse(frame.data);
  } catch {
    return { type: frame.event };
  }
}

/** Refusals that the same request meets again. 408 and 429 pass with time. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
