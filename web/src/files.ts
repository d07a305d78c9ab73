import { type Api, ApiError } from "./api.ts";
import type { TextSource } from "./file-editor.ts";
import { asNumber, asObject, asText } from "./json.ts";
import { listItems } from "./pages.ts";

export type FileEntry = { path: string; size: number };

const PAGE_SIZE = 200;

/** Every file of a workspace. A workspace begins with its first file: until then it is empty. */
export async function listFiles(api: Api, workspace: string): Promise<FileEntry[]> {
  const files: FileEntry[] = [];
  const query = { limit: String(PAGE_SIZE) };
  try {
    for await (const item of listItems(api, workspacePath(workspace), query)) {
      const { path, size } = asObject(item);
      files.push({ path: asText(path), size: asNumber(size) });
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A file to be edited. */
export function fileText(api: Api, workspace: string, path: string): TextSource {
  const here = filePath(workspace, path);
  return {
    async read() {
      const response = await api(here);
      const version = response.headers.get("etag") ?? "";
      return { text: decode(await response.arrayBuffer()), version };
    },
    write: (text, over) => writeFile(api, workspace, path, text, over),
    async remove(version) {
      await api(here, { method: "DELETE", headers: { "if-match": version } });
    },
    isConflict: ({ status }) => status === 412,
  };
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
