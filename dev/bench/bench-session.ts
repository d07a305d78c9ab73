// A session as a client has it: messages go in, its stream stays open.

import { randomUUID } from "node:crypto";
import * as z from "zod";
import { signToken } from "../sign-token.ts";
import { sseEvents } from "./sse.ts";
import type { BenchWorker } from "./start-worker.ts";

export const ORG = "bench";

export interface BenchTurn {
  /** Milliseconds from the message to the first piece of an answer, and to idle. */
  shownMs: number;
  idleMs: number;
  /** Pieces, and their text together. */
  deltas: number;
  text: string;
  /** The text of the stored messages. */
  stored: string;
}

export interface BenchSession {
  id: string;
  /** Where its memory lies, as the agent sees it. */
  memory: string | undefined;
  turn(text: string): Promise<BenchTurn>;
  /** The stream again, after its object was started anew. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

const session = z.object({
  id: z.string(),
  auto_memory: z.object({ directory: z.string().nullish() }).nullish(),
});
const deltaEvent = z.object({ delta: z.object({ content: z.object({ text: z.string() }) }) });
const messageEvent = z.object({ content: z.array(z.object({ text: z.string().optional() })) });

/** Asks the service as one user of the tenant `ORG`. */
export async function apiOf({ url, secret }: BenchWorker, user: string) {
  const token = await signToken(secret, { org: ORG, user, role: "member", repos: [] });
  return async (path: string, body?: unknown): Promise<Response> => {
    const response = await fetch(`${url}${path}`, {
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        // The dev server would compress answers within the process that is measured.
        "accept-encoding": "identity",
      },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
}

export async function createBenchSession(
  worker: BenchWorker,
  user: string,
  { workspace = `w-${randomUUID().slice(0, 8)}`, bare = false, ask = false } = {},
): Promise<BenchSession> {
  const api = await apiOf(worker, user);
  const metadata = {
    ...(bare ? { bare: "true" } : {}),
    ...(ask ? { permission_mode: "ask" } : {}),
  };
  const made = await api("/v1/sessions", {
    agent: "default",
    environment_id: workspace,
    metadata,
  });
  const { id, auto_memory } = session.parse(await made.json());
  const path = `/v1/sessions/${id}/events`;
  const open = async () =>
    sseEvents(await api(`${path}/stream?event_deltas[]=agent.message`))[Symbol.asyncIterator]();
  let events = await open();
  return {
    id,
    memory: auto_memory?.directory ?? undefined,
    async turn(text) {
      const from = performance.now();
      const message = { type: "user.message", content: [{ type: "text", text }] };
      const sent = api(path, { events: [message] }).then((response) => response.json());
      const turn: BenchTurn = { shownMs: Number.NaN, idleMs: 0, deltas: 0, text: "", stored: "" };
      for (let next = await events.next(); ; next = await events.next()) {
        if (next.done) throw new Error(`The stream of ${id} ended within a turn`);
        const event = next.value;
        if (event.type === "event_delta") {
          if (turn.deltas === 0) turn.shownMs = performance.now() - from;
          turn.deltas += 1;
          turn.text += deltaEvent.parse(event).delta.content.text;
        } else if (event.type === "agent.message") {
          turn.stored += messageEvent
            .parse(event)
            .content.map((block) => block.text)
            .join("");
        } else if (event.type === "session.status_idle") break;
      }
      turn.idleMs = performance.now() - from;
      await sent;
      return turn;
    },
    async reopen() {
      await events.return(undefined).catch(() => undefined);
      events = await open();
    },
    close: async () => void (await events.return(undefined).catch(() => undefined)),
  };
}
