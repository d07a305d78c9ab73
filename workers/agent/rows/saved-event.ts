import type { Receipt } from "../../../src/shared/files/store.ts";
import type { EventDraft } from "./events.ts";

/** A `memory.saved` event, without the turn that it belongs to. */
export function savedEvent(
  by: "agent" | "extraction",
  storeId: string,
  receipts: readonly Receipt[],
): EventDraft {
  return {
    type: "memory.saved",
    by,
    store_id: storeId,
    memories: receipts.map(({ path, operation, memoryId, versionId }) => ({
      path: `/${path}`,
      operation,
      memory_id: memoryId,
      memory_version_id: versionId,
    })),
  };
}
