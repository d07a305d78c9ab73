import { newId } from "../../../src/platform/ids.ts";
import type { StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";

/** A new store of its own, as it is opened. */
export function newStoreMeta(fields: Partial<StoreMeta> = {}): StoreMeta {
  const id = newId("memstore");
  return {
    id,
    owner: { type: "user", tenant: "t", user: "u" },
    kind: "auto",
    prefix: `t/t/u/u/memory/projects/${id}/memory/`,
    name: "n",
    description: "",
    metadata: {},
    createdAt: 1,
    updatedAt: 1,
    archivedAt: null,
    ...fields,
  };
}
