// What the routes below a store share: which store, who asks, which view, and the one 404 of each
// kind. Somebody else's store is a 404 because its name leads to an object that holds nothing.

import type { Context } from "hono";
import type { Edge } from "../../../src/platform/http/edge.ts";
import type { Actor, Change, MemdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { ownSecretsRule } from "../../../src/platform/r2/settings-files.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { SyncEnv } from "../../env.ts";
import { isMemoryId, isStoreId, isVersionId } from "./store-id.ts";

export type StoreRequest = Context<Edge<SyncEnv>>;

/** The id of the store in the path. Throws the 404 of stores. */
export function storeIdOf(c: StoreRequest): string {
  const id = c.req.param("id") ?? "";
  if (isStoreId(id)) return id;
  throw missingStore();
}

/** The store in the path, as this principal may use it. */
export function storeOf(c: StoreRequest): MemdirStub {
  return memdirStub(c.env, userOwner(c.get("principal")), storeIdOf(c));
}

/** The value of a store's reply; a store that is not there is the 404 of stores, in our words. */
export function answered<T>(reply: Reply<T>): T {
  if (!reply.ok && reply.code === "not_found") throw missingStore();
  return unwrap(reply);
}

/** The id of the memory in the path. The store must be there: its 404 comes first. */
export async function memoryIdOf(c: StoreRequest): Promise<string> {
  const id = c.req.param("memory") ?? "";
  if (isMemoryId(id)) return id;
  answered(await storeOf(c).meta());
  throw missingMemory();
}

/** The id of the version in the path. The store must be there: its 404 comes first. */
export async function versionIdOf(c: StoreRequest): Promise<string> {
  const id = c.req.param("version") ?? "";
  if (isVersionId(id)) return id;
  answered(await storeOf(c).meta());
  throw missingVersion();
}

export function actorOf(c: StoreRequest): Actor {
  return { type: "user", userId: c.get("principal").user };
}

/** A change by this caller, under what the organisation and the caller say of secrets. */
export async function changeOf(c: StoreRequest): Promise<Change> {
  const secrets = await ownSecretsRule(c.env.FILES, c.get("principal"));
  return { actor: actorOf(c), secrets };
}

/** Whether content is asked for: `view`, or the endpoint's own default. */
export function wantsContent(c: StoreRequest, fallback: "basic" | "full"): boolean {
  const view = c.req.query("view") ?? fallback;
  if (view === "basic" || view === "full") return view === "full";
  throw new MemdirError("invalid_request", 'view: use "basic" or "full"');
}

function missingStore(): MemdirError {
  return new MemdirError("not_found", "There is no such memory store");
}

export function missingMemory(): MemdirError {
  return new MemdirError("not_found", "There is no such memory");
}

export function missingVersion(): MemdirError {
  return new MemdirError("not_found", "There is no such memory version");
}
