// Memory stores, their memories and versions. A path is shown without its leading slash.
import type { Api } from "./api.ts";
import type { TextSource } from "./file-editor.ts";
import { asList, asNumber, asObject, asText, type Json } from "./json.ts";
import { listItems } from "./pages.ts";

export type Memory = { id: string; path: string; size: number; updatedAt: string };

export type Version = {
  id: string;
  operation: string;
  at: string;
  /** Who made it: a session, a user, or nobody that the service knows. */
  by: { kind: "session" | "user"; id: string } | { kind: "outside" };
  /** A deletion has no content, and a redacted version has none any more. */
  hasContent: boolean;
  redacted: boolean;
};

const MEMORIES_A_PAGE = "100";
const VERSIONS_A_PAGE = "20";
const INDEX = "MEMORY.md";

/** Every memory of a store: the index first, then what was changed last. */
export async function listMemories(api: Api, store: string): Promise<Memory[]> {
  const memories: Memory[] = [];
  const query = { view: "basic", limit: MEMORIES_A_PAGE };
  for await (const item of listItems(api, `${storePath(store)}/memories`, query)) {
    const body = asObject(item);
    memories.push({
      id: asText(body.id),
      path: asPath(body.path),
      size: asNumber(body.content_size_bytes),
      updatedAt: asText(body.updated_at),
    });
  }
  return memories.sort(
    (a, b) =>
      Number(b.path === INDEX) - Number(a.path === INDEX) ||
      (Date.parse(b.updatedAt) || 0) - (Date.parse(a.updatedAt) || 0) ||
      (a.path < b.path ? -1 : 1),
  );
}

/** A memory to be edited. Written where it is gone, it is made again: `memory` gets its new id. */
export function memoryText(
  api: Api,
  store: string,
  memory: Pick<Memory, "id" | "path">,
): TextSource {
  const memories = `${storePath(store)}/memories`;
  const here = () => `${memories}/${encodeURIComponent(memory.id)}`;
  return {
    async read() {
      const body = asObject(await (await api(`${here()}?view=full`)).json());
      return { text: textOf(body), version: asText(body.content_sha256) };
    },
    async write(text, over) {
      const json =
        over === undefined
          ? { path: `/${memory.path}`, content: text }
          : { content: text, precondition: { type: "content_sha256", content_sha256: over } };
      const path = over === undefined ? memories : here();
      const body = asObject(await (await api(path, { method: "POST", json })).json());
      memory.id = asText(body.id, memory.id);
      return asText(body.content_sha256);
    },
    async remove(version) {
      await api(`${here()}?expected_content_sha256=${version}`, { method: "DELETE" });
    },
    isConflict: ({ status }) => status === 409 || status === 404,
  };
}

/** A page of a memory's versions, newest first; `nextPage` is "" on the last. */
export async function listVersions(api: Api, store: string, memoryId: string, page: string) {
  const query = new URLSearchParams({
    memory_id: memoryId,
    view: "basic",
    limit: VERSIONS_A_PAGE,
    ...(page ? { page } : {}),
  });
  const body = asObject(await (await api(`${storePath(store)}/memory_versions?${query}`)).json());
  return { versions: asList(body.data).map(parseVersion), nextPage: asText(body.next_page) };
}

/** The content of a version; undefined where it is no text. */
export async function readVersion(api: Api, store: string, id: string) {
  return textOf(asObject(await (await api(`${versionPath(store, id)}?view=full`)).json()));
}

/** Makes a version the memory's present content, as a new version. */
export async function restoreVersion(api: Api, store: string, id: string): Promise<void> {
  await api(`${versionPath(store, id)}/restore`, { method: "POST", json: {} });
}

export function parseVersion(value: unknown): Version {
  const body = asObject(value);
  return {
    id: asText(body.id),
    operation: asText(body.operation),
    at: asText(body.created_at),
    by: parseActor(asObject(body.created_by)),
    hasContent: asText(body.content_sha256) !== "",
    redacted: asText(body.redacted_at) !== "",
  };
}

function parseActor(body: Json): Version["by"] {
  if (body.type === "session_actor") return { kind: "session", id: asText(body.session_id) };
  if (body.type === "user_actor") return { kind: "user", id: asText(body.user_id) };
  return { kind: "outside" };
}

// Bytes that are no UTF-8 came with replacements: stored again, they would be lost.
function textOf(body: Json): string | undefined {
  const text = asText(body.content);
  const size = new TextEncoder().encode(text).length;
  return size === asNumber(body.content_size_bytes) ? text : undefined;
}

function asPath(value: unknown): string {
  return asText(value).replace(/^\//, "");
}

function storePath(store: string): string {
  return `/v1/memory_stores/${encodeURIComponent(store)}`;
}

function versionPath(store: string, id: string): string {
  return `${storePath(store)}/memory_versions/${encodeURIComponent(id)}`;
}
