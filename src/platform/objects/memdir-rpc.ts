// What others ask a memory directory's object, and what it answers. Everything that reads or writes a
// memory goes through these calls: tools, the stores API, background runs, sync.

import type { Receipt } from "../../shared/files/receipt.ts";
import type { MemoryType } from "../../shared/memdir/types.ts";
import type { Reply } from "./reply.ts";
import type { StoreOwner } from "./store-owner.ts";
import { storeObjectName } from "./store-owner.ts";

/** Who made a change. `external` made it in R2, past this object. */
export type Actor =
  | { type: "session"; sessionId: string; by: "agent" | "extraction" | "subagent" | "dream" }
  | { type: "user"; userId: string }
  | { type: "external" };

export type StoreKind = "auto" | "team" | "agent" | "custom";

export interface StoreMeta {
  /** `memstore_…` */
  id: string;
  owner: StoreOwner;
  kind: StoreKind;
  /** Where its files lie in R2; ends in "/". */
  prefix: string;
  name: string;
  description: string;
  metadata: Record<string, string>;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  archivedAt: number | null;
}

/** What an update changes; a metadata key that is null goes. */
export interface MetaPatch {
  name?: string | undefined;
  description?: string | undefined;
  metadata?: Record<string, string | null> | undefined;
}

/** A memory as it is now. Paths are relative and canonical: "notes/a.md". */
export interface MemoryHead {
  /** `mem_…`; stays the same through changes and renames. */
  id: string;
  path: string;
  /** `memver_…` of the present content. */
  versionId: string;
  /** Hex, of the bytes as they came. */
  sha256: string;
  /** Bytes. */
  size: number;
  createdAt: number;
  /** Last change of the content. */
  updatedAt: number;
}

export interface MemoryRead extends MemoryHead {
  bytes: Uint8Array;
  /** Where the reader named itself and made the present version. */
  receipt?: Receipt | undefined;
}

/** What a scan knows of a memory without opening it. */
export interface ScannedMemory extends MemoryHead {
  type: MemoryType | undefined;
  name: string | undefined;
  description: string | undefined;
}

export type Operation = Receipt["operation"];

export interface Version {
  /** Its place in the store's history, counted from 1: the cursor of the change feed. */
  n: number;
  id: string;
  memoryId: string;
  operation: Operation;
  /** Null when redacted. */
  path: string | null;
  /** Null when redacted or deleted. */
  sha256: string | null;
  size: number | null;
  /** Null when redacted or deleted, or where the caller did not ask for content. */
  bytes: Uint8Array | null;
  actor: Actor;
  at: number;
  redactedAt: number | null;
  redactedBy: Actor | null;
}

export type Condition = { ifMatch: string } | { ifAbsent: true };

export interface Change {
  actor: Actor;
  /** Default "refuse". */
  secrets?: "refuse" | "warn" | undefined;
  /** The lease under which a background run writes; a lease that has passed on refuses. */
  lease?: { name: LeaseName; token: number } | undefined;
  /** "refuse": no new memory that says what another one says already. */
  repeats?: "refuse" | undefined;
  /**
   * The newest change (its `n`) that the writer can know of. What somebody else changed, moved or
   * deleted after it is refused as `changed_since`: a path, a memory, and a line of the index for it.
   */
  since?: number | undefined;
  /**
   * With `since`: what was deleted or moved from a time on, and did not come back, is refused too. By
   * others from `from` on, by the writer's own session from `ownFrom` on, in milliseconds.
   */
  gone?: { from: number; ownFrom: number } | undefined;
}

export interface WriteRequest extends Change {
  path: string;
  bytes: Uint8Array;
  /** `ifMatch` is a sha256. Without one: whatever is there. */
  condition?: Condition | undefined;
}

/** An update by id: new content, a new path, or both. */
export interface UpdateRequest extends Change {
  id: string;
  bytes?: Uint8Array | undefined;
  path?: string | undefined;
  ifMatch?: string | undefined;
}

export interface RemoveRequest extends Change {
  /** A path or an id. */
  path?: string | undefined;
  id?: string | undefined;
  ifMatch?: string | undefined;
}

export type WriteReply =
  | { status: "written"; receipt: Receipt; head: MemoryHead; warning?: string | undefined }
  /**
   * Nothing to do: it is already so, and this call made no version. `receipt` is that of the present
   * version where this very actor made it: a repeated request finds its work done.
   */
  | { status: "unchanged"; head: MemoryHead; receipt?: Receipt | undefined }
  /** The condition does not hold; `head` is what is there, if anything. */
  | { status: "conflict"; head: MemoryHead | null }
  /** The path, or one above or below it, belongs to another memory. */
  | { status: "path_conflict"; memoryId: string; path: string }
  | { status: "missing" }
  | { status: "refused"; reason: RefusalReason; message: string };

export type RefusalReason =
  | "archived"
  | "too_large"
  | "full"
  | "storage"
  | "secret"
  | "lease_lost"
  | "path"
  /** No reader would take the content: a NUL, not UTF-8. */
  | "text"
  /** Another memory says it already. */
  | "repeat"
  | "index"
  | "changed_since";

export type RemoveReply =
  | { status: "removed"; receipt: Receipt }
  | { status: "conflict"; head: MemoryHead }
  /** `receipt` is that of the last change at this path where it is a deletion by this very actor. */
  | { status: "missing"; receipt?: Receipt | undefined }
  | { status: "refused"; reason: RefusalReason; message: string };

export type LeaseName = "extraction" | "dream";
export type LeaseReply =
  | { status: "granted"; token: number; until: number }
  | { status: "held"; until: number };
/** `at`: the newest change of the store when the lease was given. */
export type AcquireReply =
  | (Extract<LeaseReply, { status: "granted" }> & { at: number })
  | Extract<LeaseReply, { status: "held" }>;

export interface ListHeads {
  /** "" or a folder that ends in "/". */
  prefix: string;
  /** Continue after this path. */
  after?: string | undefined;
  limit: number;
}

export interface VersionQuery {
  memoryId?: string | undefined;
  operation?: Operation | undefined;
  sessionId?: string | undefined;
  /** Bounds in milliseconds, inclusive. */
  from?: number | undefined;
  to?: number | undefined;
  /** Continue before this `n`: versions come newest first. */
  before?: number | undefined;
  limit: number;
  withContent: boolean;
}

/** Up to where somebody knows what was lost. */
export interface LossCursor {
  /** Number of a version, and of a redaction. */
  version: number;
  redaction: number;
}

/** What was deleted or redacted after a cursor. */
export interface Losses {
  /** From here on it is asked next. */
  cursor: LossCursor;
  /** Paths of memories that are no more, and the session that deleted each, if one did. */
  deleted: { path: string; memoryId: string; sessionId: string | null }[];
  /** SHA-256 of each path whose content was redacted: the paths themselves went with it. */
  redacted: string[];
}

export interface RewindReply {
  /** A receipt for each memory that the rewind changed. */
  changed: Receipt[];
  /** Memories that stay as they are, and why: somebody else changed them since, for one. */
  skipped: { path: string; memoryId: string; reason: string }[];
}

export interface MemdirStub {
  /** Makes the store, or finds it made: the same for the same id. */
  open(meta: StoreMeta): Promise<Reply<StoreMeta>>;
  meta(): Promise<Reply<StoreMeta>>;
  updateMeta(patch: MetaPatch): Promise<Reply<StoreMeta>>;
  archive(): Promise<Reply<StoreMeta>>;
  /** Clears the store with all its memories and versions. */
  destroy(): Promise<Reply<null>>;

  read(path: string, reader?: Actor): Promise<Reply<MemoryRead | null>>;
  readById(id: string): Promise<Reply<MemoryRead | null>>;
  head(path: string): Promise<Reply<MemoryHead | null>>;
  /** In order of paths. */
  list(query: ListHeads): Promise<Reply<{ heads: MemoryHead[]; next: string | null }>>;
  /** Newest first, without the index; no R2 call. */
  scan(limit: number): Promise<Reply<ScannedMemory[]>>;

  write(request: WriteRequest): Promise<Reply<WriteReply>>;
  update(request: UpdateRequest): Promise<Reply<WriteReply>>;
  remove(request: RemoveRequest): Promise<Reply<RemoveReply>>;

  /** With its content, unless `withContent` is false. */
  version(id: string, withContent?: boolean): Promise<Reply<Version | null>>;
  versions(query: VersionQuery): Promise<Reply<Version[]>>;
  /** Versions after `after`, oldest first; waits up to `waitMs` where there is none. */
  changes(after: number, limit: number, waitMs: number): Promise<Reply<Version[]>>;
  /** What was lost after a cursor; without one nothing but the present cursor. */
  losses(after: LossCursor | undefined): Promise<Reply<Losses>>;
  /** Takes this content out of the whole history. Not while a memory has it: `invalid_request`. */
  redact(versionId: string, actor: Actor): Promise<Reply<Version | null>>;
  restore(versionId: string, change: Change): Promise<Reply<WriteReply>>;
  rewind(to: { time: number } | { sessionId: string }, change: Change): Promise<Reply<RewindReply>>;

  /** Makes versions of what others changed in R2; answers with their receipts. */
  importChanges(): Promise<Reply<Receipt[]>>;
  /** Restores the rule of two steps: each file has its line, no line goes nowhere. */
  reconcile(actor: Actor): Promise<Reply<Receipt[]>>;

  /** Where somebody holds the lease, this remembers `waiter`, whom `release` names. */
  acquire(
    name: LeaseName,
    holder: string,
    ms: number,
    waiter?: string,
  ): Promise<Reply<AcquireReply>>;
  renew(name: LeaseName, token: number, ms: number): Promise<Reply<LeaseReply>>;
  /** The answer is who has waited longest, if somebody did. */
  release(name: LeaseName, token: number): Promise<Reply<string | null>>;
}

/** The object of a store, if it is this owner's; else one that answers `not_found`. */
export function memdirStub(
  env: { MEMDIR: DurableObjectNamespace },
  owner: StoreOwner,
  storeId: string,
): MemdirStub {
  const id = env.MEMDIR.idFromName(storeObjectName(owner, storeId));
  // The platform's own stub type loses every method whose result holds a union of this kind.
  return env.MEMDIR.get(id) as unknown as MemdirStub;
}
