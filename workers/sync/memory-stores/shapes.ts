// The JSON of stores, memories and versions, as the official SDK types them. `seq` is ours.

import type {
  Actor,
  MemoryHead,
  RewindReply,
  StoreMeta,
  Version,
} from "../../../src/platform/objects/memdir-rpc.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { shownMetadata } from "./store-metadata.ts";

// A byte order mark is part of the content: the hash is of these very bytes.
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

export function storeShape(meta: StoreMeta) {
  return {
    type: "memory_store",
    id: meta.id,
    name: meta.name,
    description: meta.description,
    metadata: shownMetadata(meta),
    created_at: time(meta.createdAt),
    updated_at: time(meta.updatedAt),
    archived_at: timeOrNull(meta.archivedAt),
  };
}

/** Bytes that are not UTF-8 come out with U+FFFD in their place. */
export function memoryShape(storeId: string, head: MemoryHead, bytes: Uint8Array | null) {
  return {
    type: "memory",
    id: head.id,
    memory_store_id: storeId,
    memory_version_id: head.versionId,
    path: `/${head.path}`,
    content: bytes && decoder.decode(bytes),
    content_sha256: head.sha256,
    content_size_bytes: head.size,
    created_at: time(head.createdAt),
    updated_at: time(head.updatedAt),
  };
}

/** The version; its content only if `withContent`. */
export function versionShape(storeId: string, version: Version, withContent: boolean) {
  return {
    type: "memory_version",
    id: version.id,
    seq: version.n,
    memory_id: version.memoryId,
    memory_store_id: storeId,
    operation: version.operation,
    path: version.path === null ? null : `/${version.path}`,
    content: withContent && version.bytes ? decoder.decode(version.bytes) : null,
    content_sha256: version.sha256,
    content_size_bytes: version.size,
    created_at: time(version.at),
    created_by: actorShape(version.actor),
    redacted_at: timeOrNull(version.redactedAt),
    redacted_by: version.redactedBy && actorShape(version.redactedBy),
  };
}

export function rewindShape({ changed, skipped }: RewindReply) {
  return {
    type: "memory_store_rewind",
    changed: changed.map(receiptShape),
    skipped: skipped.map(({ path, memoryId, reason }) => ({
      path: `/${path}`,
      memory_id: memoryId,
      reason,
    })),
  };
}

function receiptShape(receipt: Receipt) {
  return {
    path: `/${receipt.path}`,
    operation: receipt.operation,
    memory_id: receipt.memoryId,
    memory_version_id: receipt.versionId,
  };
}

/** Null for a change that came from the bucket: nobody recorded who made it. */
function actorShape(actor: Actor) {
  switch (actor.type) {
    case "session":
      return { type: "session_actor", session_id: actor.sessionId };
    case "user":
      return { type: "user_actor", user_id: actor.userId };
    case "external":
      return null;
  }
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function timeOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : time(milliseconds);
}
