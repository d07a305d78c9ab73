// The inspector of a worker in the local runtime: what its isolate holds.

import * as z from "zod";
import { pause } from "./figures.ts";

/** A collection takes some milliseconds; this long only where the inspector does not answer. */
const ANSWER_MS = 30_000;
const WAKE_MS = 50;

const usage = z.object({
  result: z.object({
    usedSize: z.number(),
    embedderHeapUsedSize: z.number(),
    backingStorageSize: z.number(),
  }),
});

export interface Inspector {
  /** Bytes of the script's heap, with what is not collected yet. */
  heap(): Promise<number>;
  /** The same with what lies beside it: the runtime's own objects, and the bytes of buffers. */
  whole(): Promise<number>;
  /** A full collection; it comes when the script next runs: `wake` is any request to it. */
  collect(wake: () => Promise<unknown>): Promise<void>;
  close(): void;
}

/** Throws an `Error` where nobody listens at this address. */
export async function openInspector(address: URL): Promise<Inspector> {
  // Wrangler wants an origin. Node's WebSocket takes headers, the DOM's type does not know them.
  const socket: WebSocket = Reflect.construct(WebSocket, [
    new URL("/ws", address),
    { headers: { Origin: "http://localhost" } },
  ]);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`The inspector at ${address} is not to be reached`));
  });
  let asked = 0;
  const ask = (method: string) => {
    asked += 1;
    return answerOf(socket, asked, method);
  };
  const usageNow = async () => usage.parse(await ask("Runtime.getHeapUsage")).result;
  return {
    heap: async () => (await usageNow()).usedSize,
    async whole() {
      const { usedSize, embedderHeapUsedSize, backingStorageSize } = await usageNow();
      return usedSize + embedderHeapUsedSize + backingStorageSize;
    },
    async collect(wake) {
      let over = false;
      const collected = ask("HeapProfiler.collectGarbage").finally(() => {
        over = true;
      });
      // The request may overtake the question.
      while (!over) {
        await wake();
        await Promise.race([pause(WAKE_MS), collected]);
      }
    },
    close: () => socket.close(),
  };
}

function answerOf(socket: WebSocket, id: number, method: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const late = () => reject(new Error(`${method}: no answer within ${ANSWER_MS / 1000} s`));
  const timer = setTimeout(late, ANSWER_MS);
  const listen = ({ data }: MessageEvent) => {
    const message: unknown = JSON.parse(String(data));
    if (!z.object({ id: z.literal(id) }).safeParse(message).success) return;
    clearTimeout(timer);
    socket.removeEventListener("message", listen);
    resolve(message);
  };
  socket.addEventListener("message", listen);
  socket.send(JSON.stringify({ id, method }));
  return promise;
}
