// The one table from a path and a principal to a store, its key and its rights. No other file makes
// a key or a prefix: whoever wants a file asks this one.

import { MemdirError } from "../../shared/errors.ts";
import type { Mount, Mounts } from "../../shared/files/mounts.ts";
import { createMounts } from "../../shared/files/mounts.ts";
import type { FileStore } from "../../shared/files/store.ts";
import { MEMORY_FILE_BYTES, WORKSPACE_FILE_BYTES } from "../../shared/limits/files.ts";
import { REQUEST_BODY_BYTES } from "../../shared/limits/http.ts";
import type { EnabledPlace } from "../../shared/settings/locate.ts";
import { HOME } from "../../shared/settings/memory-path.ts";
import type { Principal } from "../http/auth.ts";
import { createR2Files } from "./r2-files.ts";
import { encodeKeyPart } from "./r2-key.ts";

/** A workspace that everybody of the tenant reads and writes has an id that begins like this. */
const SHARED = "shared-";
const WORKSPACE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export type Owner = Pick<Principal, "tenant" | "user" | "role">;

/** Whether a text can name a workspace: 1 to 64 letters, digits, dots, hyphens and underscores. */
export function isWorkspaceId(text: string): boolean {
  return WORKSPACE_ID.test(text);
}

/** The path at which an agent sees the workspace of this id. */
export function workspacePath(id: string): string {
  return `/workspace/${id}`;
}

/**
 * What an agent of this principal sees: its project's workspace, where it is on its memory, and what
 * is its session's `own`.
 */
export function agentMounts(
  bucket: R2Bucket,
  owner: Owner,
  workspace: string,
  memory: { directory: string; files: FileStore } | undefined,
  own: readonly Mount[] = [],
): Mounts {
  const files = workspaceMount(bucket, owner, workspace);
  const mounts: Mount[] = [{ ...files, store: guardSettings(files.store) }, ...own];
  if (memory) {
    mounts.push({
      at: memory.directory,
      store: memory.files,
      rights: "write",
      maxFileBytes: MEMORY_FILE_BYTES,
      label: "memory",
    });
  }
  return createMounts(mounts);
}

/** The workspace of this id as this principal may use it. The id must be one (`isWorkspaceId`). */
export function workspaceMount(bucket: R2Bucket, owner: Owner, id: string): Mount {
  const shared = id.startsWith(SHARED);
  const prefix = shared
    ? key("t", owner.tenant, "w", id)
    : key("t", owner.tenant, "u", owner.user, "w", id);
  const store = createR2Files(bucket, prefix);
  return {
    at: workspacePath(id),
    store: shared ? guardShared(store, owner.role) : store,
    rights: "write",
    maxFileBytes: WORKSPACE_FILE_BYTES,
    label: `workspace ${id}`,
  };
}

/**
 * The R2 prefix of a memory directory, ending in "/". Where somebody chose the place, its whole path
 * is one part of the key: no directory's prefix lies below another's, so each has one writer.
 */
export function memoryPrefix(owner: Pick<Owner, "tenant" | "user">, place: EnabledPlace): string {
  const user = ["t", owner.tenant, "u", owner.user];
  if (place.source === "default") {
    return key(...user, "memory", "projects", place.slug, "memory");
  }
  return key(...user, "dirs", place.directory);
}

/** The R2 prefix of a memory store that a user made through the API; ends in "/". */
export function customStorePrefix(owner: Pick<Owner, "tenant" | "user">, storeId: string): string {
  return key("t", owner.tenant, "u", owner.user, "stores", storeId);
}

/**
 * The R2 prefix of what a store's history has and no memory any more, named by its sha256; ends in "/".
 * No directory's files lie above or below it, so an import never sees it.
 */
export function historyPrefix(
  owner:
    | { type: "user"; tenant: string; user: string }
    | { type: "repository"; tenant: string; repo: string },
  storeId: string,
): string {
  switch (owner.type) {
    case "user":
      return key("t", owner.tenant, "u", owner.user, "history", storeId);
    case "repository":
      return key("t", owner.tenant, "history", owner.repo, storeId);
  }
}

/**
 * The files of a memory store below a prefix that this table made. R2's refusals become
 * `unavailable` at once, without a second try: their caller keeps an outbox.
 */
export function storeFiles(bucket: R2Bucket, prefix: string): FileStore {
  return createR2Files(bucket, prefix, refuseAtOnce);
}

/** In place of the pause before a second attempt. */
function refuseAtOnce(): Promise<void> {
  return Promise.reject(new MemdirError("unavailable", "The file storage does not take this now"));
}

/** The folder of a settings layer; only admins write the managed one. */
export function settingsMount(bucket: R2Bucket, owner: Owner, layer: "user" | "managed"): Mount {
  const { tenant, user, role } = owner;
  if (layer === "user") {
    return {
      at: `${HOME}/.claude`,
      store: createR2Files(bucket, key("t", tenant, "u", user, "home", ".claude")),
      rights: "write",
      maxFileBytes: REQUEST_BODY_BYTES,
      label: "user settings",
    };
  }
  return {
    at: "/etc/claude-code",
    store: createR2Files(bucket, key("t", tenant, "managed")),
    rights: role === "admin" ? "write" : "read",
    maxFileBytes: REQUEST_BODY_BYTES,
    label: "managed settings, which admins change",
  };
}

/** What of a workspace is one person's alone, also where the workspace itself is shared. */
export function localFiles(bucket: R2Bucket, owner: Owner, workspace: string): FileStore {
  return createR2Files(bucket, key("t", owner.tenant, "u", owner.user, "w", workspace));
}

function key(...parts: string[]): string {
  return `${parts.map(encodeKeyPart).join("/")}/`;
}

/** Settings are people's: an agent that wrote them could choose its own place and rules. */
function guardSettings(store: FileStore): FileStore {
  const check = (path: string) => {
    if (!/(^|\/)\.claude\/settings[^/]*\.json$/i.test(path)) return;
    throw new MemdirError("forbidden", `${path} holds settings, which only people change`, path);
  };
  return checked(store, check);
}

/**
 * In a shared workspace only admins write what becomes instructions or settings for everybody, and
 * nobody keeps what is for one person alone.
 */
function guardShared(store: FileStore, role: Owner["role"]): FileStore {
  const check = (path: string) => {
    if (
      /(^|\/)CLAUDE\.local\.md$|^\.claude\/(settings\.local\.json$|agent-memory-local\/)/i.test(
        path,
      )
    ) {
      throw new MemdirError(
        "forbidden",
        `${path} is for one person and is not kept in a shared workspace. Use a workspace of your own`,
        path,
      );
    }
    if (role !== "admin" && /(^|\/)(CLAUDE\.md$|\.claude\/)/i.test(path)) {
      throw new MemdirError(
        "forbidden",
        `${path} instructs everybody's agents in this shared workspace, so only an admin may change it`,
        path,
      );
    }
  };
  return checked(store, check);
}

/** The same store; `check` sees the path of each write and deletion, and may throw. */
function checked(store: FileStore, check: (path: string) => void): FileStore {
  return {
    ...store,
    async put(path, bytes, precondition) {
      check(path);
      return store.put(path, bytes, precondition);
    },
    async delete(path, precondition) {
      check(path);
      return store.delete(path, precondition);
    },
  };
}
