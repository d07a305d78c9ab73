import type { Api } from "./api.ts";
import { asList, asNumber, asObject, asText } from "./json.ts";

export type FileEntry = { path: string; size: number };

/** `text` is undefined where the file is not UTF-8 text. */
export type OpenedFile = { path: string; text: string | undefined; etag: string };

const PAGE_SIZE = 200;

/** Every file of a workspace; one that has none yet is empty. */
export async function listFiles(api: Api, workspace: string): Promise<FileEntry[]> {
  const files: FileEntry[] = [];
  let page = "";
  do {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(page ? { page } : {}) });
    const body = asObject(await (await api(`${workspacePath(workspace)}?${query}`)).json());
    for (const item of asList(body.data)) {
      const { path, size } = asObject(item);
      files.push({ path: asText(path), size: asNumber(size) });
    }
    page = asText(body.next_page);
  } while (page);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export async function readFile(api: Api, workspace: string, path: string): Promise<OpenedFile> {
  const response = await api(filePath(workspace, path));
  const etag = response.headers.get("etag") ?? "";
  return { path, text: decode(await response.arrayBuffer()), etag };
}

/**
 * Writes over the version `etag`, or a file that must not exist yet (`undefined`); a 412 is thrown
 * else. Answers with the new version, "" where the service does not name it.
 */
export async function writeFile(
  api: Api,
  workspace: string,
  path: string,
  text: string,
  etag: string | undefined,
): Promise<string> {
  const condition: Record<string, string> =
    etag === undefined ? { "if-none-match": "*" } : { "if-match": etag };
  const headers = { "content-type": "text/plain; charset=utf-8", ...condition };
  const response = await api(filePath(workspace, path), { method: "PUT", headers, body: text });
  return response.headers.get("etag") ?? "";
}

export async function deleteFile(api: Api, workspace: string, path: string, etag: string) {
  await api(filePath(workspace, path), { method: "DELETE", headers: { "if-match": etag } });
}

/** Why a path cannot be asked for, or "". A browser would resolve "..", so it never leaves the page. */
export function pathProblem(path: string): string {
  const bad = path.split("/").find((part) => part === "" || part === "." || part === "..");
  if (bad === undefined) return "";
  return `Cannot use path "${path}": every part between slashes needs a name, "." and ".." are none`;
}

function workspacePath(workspace: string): string {
  const problem = pathProblem(workspace);
  if (problem) throw new Error(problem);
  return `/v1/workspaces/${encodeURIComponent(workspace)}/files`;
}

function filePath(workspace: string, path: string): string {
  const problem = pathProblem(path);
  if (problem) throw new Error(problem);
  return `${workspacePath(workspace)}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function decode(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
