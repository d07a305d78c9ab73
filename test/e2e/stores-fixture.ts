// What the tests of memory stores share.

import { createHash } from "node:crypto";
import type Anthropic from "@anthropic-ai/sdk";
import type { TestService } from "./service.ts";

export type Answer = { status: number; headers: Headers; body: Record<string, unknown> };

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** A new store of this client's; its id. */
export async function newStore(client: Anthropic, name = "Notes"): Promise<string> {
  return (await client.beta.memoryStores.create({ name })).id;
}

export async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of pages) items.push(item);
  return items;
}

/** What a rejected call of the SDK tells. */
export async function failure(call: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await call;
  } catch (error) {
    const { status, type, error: body, headers } = error as Record<string, unknown>;
    const inner = ((body as Record<string, unknown>)?.error ?? {}) as Record<string, unknown>;
    const retry = (headers as Headers | undefined)?.get("x-should-retry");
    return { status, type, ...inner, retry };
  }
  throw new Error("The call was expected to be refused");
}

/** Plain HTTP as somebody. */
export function caller(service: TestService, token: string) {
  return async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${service.url}/v1/memory_stores${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) };
  };
}

/** The objects behind the service, for what no endpoint can bring about. */
export async function objectsOf(service: TestService, tenant = service.org, user = "ann") {
  const env = await service.harness.getWorker<{ MEMDIR: Namespace; ACCOUNT: Namespace }>().getEnv();
  const stub = (space: Namespace, name: string[]) =>
    space.get(space.idFromName(JSON.stringify(name)));
  return {
    account: stub(env.ACCOUNT, [tenant, user]) as unknown as AccountObject,
    store: (id: string) => stub(env.MEMDIR, [tenant, user, id]) as unknown as StoreObject,
  };
}

/** What these tests ask of the objects; the service's own types are not for Node. */
export interface AccountObject {
  addStore(row: {
    id: string;
    kind: "custom";
    createdAt: number;
    archived: boolean;
  }): Promise<unknown>;
  listStores(query: { limit: number; includeArchived: boolean }): Promise<{ id: string }[]>;
}
export interface StoreObject {
  write(request: {
    path: string;
    bytes: Uint8Array;
    actor: { type: "session"; sessionId: string; by: "agent" };
  }): Promise<{ ok: boolean; value?: { status: string } }>;
  archive(): Promise<unknown>;
  destroy(): Promise<unknown>;
}

interface Namespace {
  idFromName(name: string): unknown;
  get(id: unknown): unknown;
}
