// A session's auto memory: where it lies is found once, when the session is made, and kept.

import { derivedId } from "../../../src/platform/ids.ts";
import { errorName, log } from "../../../src/platform/log.ts";
import { createMemdirFiles } from "../../../src/platform/objects/memdir-files.ts";
import type { Actor, Change } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { memoryPrefix } from "../../../src/platform/r2/mount-table.ts";
import { enabledNow, placeFor } from "../../../src/platform/r2/settings-files.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import type { FileStore } from "../../../src/shared/files/store.ts";
import type { MemoryVariables } from "../../../src/shared/settings/locate.ts";
import type { AgentEnv } from "../../env.ts";
import { isBare } from "../contract/session-modes.ts";
import type { Meta, SessionMemory } from "../rows/meta.ts";

interface Owner {
  tenant: string;
  user: string;
  role: "member" | "admin";
}

/** Finds a new session's memory and makes sure that its store exists. */
export async function openMemory(
  env: AgentEnv,
  owner: Owner,
  session: { environmentId: string; projectRoot: string; bare: boolean },
  variables: MemoryVariables,
): Promise<SessionMemory> {
  const place = await placeFor(env.FILES, owner, session, variables);
  if (!place.enabled) return { enabled: false, rule: place.rule, ignored: place.ignored };
  const prefix = memoryPrefix(owner, place);
  const storeId = await derivedId("memstore", prefix);
  const now = Date.now();
  unwrap(
    await memdirStub(env, userOwner(owner), storeId).open({
      id: storeId,
      owner: userOwner(owner),
      kind: "auto",
      prefix,
      name: `Memory of ${place.root}`.slice(0, 255).toWellFormed(),
      description: "",
      metadata: { kind: "auto", project_root: place.root.slice(0, 512).toWellFormed() },
      createdAt: now,
      updatedAt: now,
      archivedAt: null,
    }),
  );
  const { rule, directory, secrets, ignored } = place;
  return { enabled: true, rule, directory, storeId, secrets, ignored };
}

/**
 * Why this session's memory takes nothing from the background any more, where somebody has turned auto
 * memory off since the session was made. Throws `unavailable` where the storage cannot say.
 */
export async function switchedOff(
  env: Pick<AgentEnv, "FILES">,
  meta: Pick<Meta, "tenant" | "user" | "role" | "environmentId" | "projectRoot" | "metadata">,
  variables: MemoryVariables,
): Promise<string | undefined> {
  const session = { ...meta, bare: isBare(meta.metadata) };
  const { enabled, rule } = await enabledNow(env.FILES, meta, session, variables);
  return enabled ? undefined : rule;
}

/** The memory of a running turn. */
export interface TurnMemory {
  directory: string;
  storeId: string;
  files: FileStore;
  /** Imports outside changes and heals the index; comes before the index goes into a prompt. */
  refresh(): Promise<void>;
  /** Heals the index after a turn that wrote; receipts of what that changed. */
  reconcile(): Promise<Receipt[]>;
}

/** A background run, and what it can know of: see `Change`. */
interface ExtractionWriter {
  by: "extraction";
  token: number;
  since: number;
  gone: { from: number; ownFrom: number };
}

/**
 * Opens a session's memory for one turn, or for a background run under its lease; undefined where the
 * session has none.
 */
export function turnMemory(
  env: Pick<AgentEnv, "MEMDIR">,
  owner: Pick<Owner, "tenant" | "user">,
  sessionId: string,
  memory: SessionMemory,
  as: { by: "agent" } | ExtractionWriter = { by: "agent" },
): TurnMemory | undefined {
  if (!memory.enabled) return undefined;
  const { directory, storeId } = memory;
  const stub = memdirStub(env, userOwner(owner), storeId);
  const actor: Actor = { type: "session", sessionId, by: as.by };
  const lease = as.by === "extraction" ? { name: as.by, token: as.token } : undefined;
  // A background run is the one that takes for news what is saved already.
  const repeats = as.by === "extraction" ? "refuse" : undefined;
  const { since, gone } = as.by === "extraction" ? as : {};
  const change: Change = { actor, secrets: memory.secrets, lease, repeats, since, gone };
  return {
    directory,
    storeId,
    files: createMemdirFiles(stub, change),
    async refresh() {
      unwrap(await stub.importChanges());
      unwrap(await stub.reconcile(actor));
    },
    reconcile: async () => unwrap(await stub.reconcile(actor)),
  };
}

/** Heals the index after a writer. The next one can heal it too: a failure costs nothing else. */
export async function healIndex(memory: TurnMemory): Promise<Receipt[]> {
  try {
    return await memory.reconcile();
  } catch (error) {
    log("session.index_not_healed", { error: errorName(error) });
    return [];
  }
}
