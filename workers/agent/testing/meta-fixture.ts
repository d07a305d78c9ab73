import type { Meta, NewMeta } from "../rows/meta.ts";

/** A session of ann at acme, as it is made. */
export function newMeta(id: string): NewMeta {
  return {
    id,
    tenant: "acme",
    user: "ann",
    role: "member",
    environmentId: "w",
    projectRoot: "/workspace/w",
    model: "claude-opus-5-5",
    system: null,
    title: null,
    metadata: {},
    permissionMode: "accept_edits",
    midTurnMessages: "queue",
    clientTools: [],
    createdAt: 1,
    updatedAt: 1,
    archivedAt: null,
    deleting: false,
    activeMs: 0,
  };
}

/** The same, complete: without memory, in this zone. */
export function wholeMeta(id: string, timeZone = "UTC"): Meta {
  return { ...newMeta(id), memory: { enabled: false, rule: "none", ignored: [] }, timeZone };
}
