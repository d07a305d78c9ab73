// Sessions of one user as tests of the object reach them: by their stub, and from inside; and the
// model's server, in the place of the network.

import { env } from "cloudflare:test";
import { afterAll, beforeAll, vi } from "vitest";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import type { AgentEnv } from "../../env.ts";
import type { Session } from "../session/session.ts";
import { type SessionStub, sessionStub } from "../session/stubs.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

export const owner = { tenant: "acme", user: "ann" };

export function stub(id: string): SessionStub {
  return sessionStub(env, owner, id);
}

/** The first events of a session, as a client gets them. */
export async function eventsOf(id: string): Promise<{ type: string }[]> {
  const { data } = await pageOf(unwrap(await stub(id).events({ limit: 100 })));
  return data;
}

/** A page of events, read to its end. */
export async function pageOf(stream: ReadableStream<Uint8Array>): Promise<EventPage> {
  return new Response(stream).json<EventPage>();
}

export interface EventPage {
  data: { type: string; seq: number }[];
  next_page: string | null;
}

/** The same session as an object whose rows a test may read and change. */
export function object(id: string): DurableObjectStub<Session> {
  const name = JSON.stringify([owner.tenant, owner.user, id]);
  return env.SESSION.get(env.SESSION.idFromName(name)) as DurableObjectStub<Session>;
}

/** Every request of a file's tests is answered so; to be called once at its top. */
export function withFetch(answer: (request: Request) => Promise<Response>): void {
  let fetched: { mockRestore(): void } | undefined;
  beforeAll(() => {
    fetched = vi
      .spyOn(globalThis, "fetch")
      .mockImplementation(
        (input, init) =>
          answer(new Request(input as Request, init as RequestInit)) as ReturnType<typeof fetch>,
      );
  });
  afterAll(() => fetched?.mockRestore());
}
