// Clients of a session with large messages: its stream from the start, and its pages.

import * as z from "zod";
import { apiOf, createBenchSession } from "./bench-session.ts";
import { pause, sizeOf } from "./figures.ts";
import type { Way } from "./memory.ts";
import { sseEvents } from "./sse.ts";
import type { BenchWorker } from "./start-worker.ts";

const USER = "reader";
const MESSAGE_CHARACTERS = 950_000;
/** A slow client reads so much, and then nothing for a while. */
const SLOW_BYTES = 8_000_000;
const SLOW_MS = 1_500;
const SIDE_BY_SIDE = 8;

export interface LargeSessions {
  large: string;
  /** With one small message. */
  small: string;
}

const page = z.object({ data: z.array(z.looseObject({})), next_page: z.string().nullable() });

export async function makeLargeSession(worker: BenchWorker): Promise<LargeSessions> {
  const api = await apiOf(worker, USER);
  const ids: string[] = [];
  for (const messages of [1, sizeOf("BENCH_MESSAGES", 40)]) {
    const session = await createBenchSession(worker, USER, { workspace: "large", ask: true });
    await session.turn("go");
    await session.close();
    const text = "The tide comes in. "
      .repeat(60_000)
      .slice(0, messages > 1 ? MESSAGE_CHARACTERS : 100);
    for (let n = 0; n < messages; n += 1) {
      const message = { type: "user.message", content: [{ type: "text", text }] };
      await api(`/v1/sessions/${session.id}/events`, { events: [message] });
    }
    ids.push(session.id);
  }
  const [small = "", large = ""] = ids;
  return { small, large };
}

type Read = (worker: BenchWorker, id: string, slow: boolean) => Promise<string>;

/** Each way with a client that reads as it comes, and with one that stops for a while. */
export function readings({ small, large }: LargeSessions): Way[] {
  const kinds: [string, Read][] = [
    ["stream from the start", stream],
    [`${SIDE_BY_SIDE} streams side by side`, sideBySide(stream)],
    ["pages by default", pages("")],
    ["pages of 1,000", pages("limit=1000")],
    ["pages of 1,000, newest first", pages("limit=1000&order=desc")],
    [`${SIDE_BY_SIDE} lists of pages side by side`, sideBySide(pages(""))],
  ];
  return kinds.flatMap(([name, read]) =>
    [false, true].map((slow) => ({
      name: slow ? `${name}, slow client` : name,
      warm: (worker) => read(worker, small, false),
      run: (worker) => read(worker, large, slow),
    })),
  );
}

async function stream(worker: BenchWorker, id: string, slow: boolean): Promise<string> {
  const api = await apiOf(worker, USER);
  const path = `/v1/sessions/${id}/events`;
  const newest = page.parse(await (await api(`${path}?limit=1&order=desc`)).json()).data[0]?.seq;
  let events = 0;
  const response = await api(`${path}/stream?after=0`);
  const { read, body } = slowly(response, slow);
  for await (const event of sseEvents(body)) {
    events += 1;
    if (event.seq === newest) break;
  }
  return `${events} events, ${(read() / 1e6).toFixed(0)} MB`;
}

function pages(query: string): Read {
  return async (worker, id, slow) => {
    const api = await apiOf(worker, USER);
    let [count, events, bytes] = [0, 0, 0];
    let cursor: string | null = "";
    do {
      const path = `/v1/sessions/${id}/events?${query}&page=${cursor}`;
      const { read, body } = slowly(await api(path), slow);
      const { data, next_page } = page.parse(await body.json());
      [count, events, bytes] = [count + 1, events + data.length, bytes + read()];
      cursor = next_page;
    } while (cursor !== null);
    return `${events} events in ${count} pages, ${(bytes / 1e6).toFixed(0)} MB`;
  };
}

function sideBySide(read: Read): Read {
  return async (...args) => {
    const all = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => read(...args)));
    return all[0] ?? "";
  };
}

/** The same response; a slow one is not read for a while once in so many bytes. */
function slowly(response: Response, slow: boolean): { read: () => number; body: Response } {
  let read = 0;
  let stopped = 0;
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        read += chunk.byteLength;
        controller.enqueue(chunk);
        if (!slow || read < stopped) return;
        stopped = read + SLOW_BYTES;
        await pause(SLOW_MS);
      },
    }),
  );
  return { read: () => read, body: new Response(counted) };
}
