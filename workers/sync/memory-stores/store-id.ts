import { isId, newId } from "../../../src/platform/ids.ts";

/** A new id of a memory store: `memstore_` and 24 characters. */
export function newStoreId(): string {
  return newId("memstore");
}

/** Whether a text can be a memory store's id at all. */
export function isStoreId(text: string): boolean {
  return isId("memstore", text);
}

/** Whether a text can be a memory's id at all. */
export function isMemoryId(text: string): boolean {
  return isId("mem", text);
}

/** Whether a text can be a memory version's id at all. */
export function isVersionId(text: string): boolean {
  return isId("memver", text);
}
