// From a store's outcome to the contract's errors, each once.

import { WireError } from "../../../src/platform/http/edge.ts";
import type {
  MemoryHead,
  RefusalReason,
  RemoveReply,
  WriteReply,
} from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { missingMemory } from "./store-request.ts";

/** The new memory. One that was there before is a conflict, even with the same content. */
export function createdHead(reply: WriteReply): MemoryHead {
  if (reply.status === "unchanged") throw pathTaken(reply.head.id, reply.head.path);
  if (reply.status === "conflict") throw pathTaken(reply.head?.id ?? "", reply.head?.path ?? "");
  return headOf(reply);
}

/** The memory as it is after a change; also where there was nothing to do. */
export function headOf(reply: WriteReply): MemoryHead {
  switch (reply.status) {
    case "written":
    case "unchanged":
      return reply.head;
    case "conflict":
      throw preconditionFailed();
    case "path_conflict":
      throw pathTaken(reply.memoryId, reply.path);
    case "missing":
      throw missingMemory();
    case "refused":
      throw refusal(reply.reason, reply.message);
  }
}

/** Returns where the memory was removed, else throws why not. */
export function checkRemoved(reply: RemoveReply): void {
  switch (reply.status) {
    case "removed":
      return;
    case "conflict":
      throw preconditionFailed();
    case "missing":
      throw missingMemory();
    case "refused":
      throw refusal(reply.reason, reply.message);
  }
}

function preconditionFailed(): WireError {
  return new WireError(
    "conflict",
    "The memory's content does not have the expected content_sha256: it was changed since. Retrieve it and try again",
    { type: "memory_precondition_failed_error" },
  );
}

function pathTaken(memoryId: string, path: string): WireError {
  return new WireError(
    "conflict",
    `path: taken by the memory at "/${path}", which is at, above or below it. Rename or delete that one, update it, or use another path`,
    {
      type: "memory_path_conflict_error",
      fields: { conflicting_memory_id: memoryId, conflicting_path: `/${path}` },
    },
  );
}

/** The message is the store's own: it names the rule, and for a secret the line, never the value. */
function refusal(reason: RefusalReason, message: string): MemdirError {
  switch (reason) {
    case "archived":
    case "too_large":
    case "full":
    case "storage":
    case "secret":
    case "path":
    case "text":
    case "repeat":
    case "index":
      return new MemdirError("invalid_request", message);
    case "lease_lost":
    case "changed_since":
      return new MemdirError("conflict", message);
  }
}
