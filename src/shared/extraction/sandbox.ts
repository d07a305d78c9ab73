import { MemdirError } from "../errors.ts";
import type { Mount } from "../files/mounts.ts";
import { createMounts } from "../files/mounts.ts";
import type { FileStore, StoredFile } from "../files/store.ts";
import type { Tool } from "../loop/tool.ts";
import { errorResult } from "../loop/tool.ts";
import { parseEntry } from "../memdir/entry.ts";
import { INDEX_FILE } from "../memdir/entrypoint.ts";
import { parsePointer } from "../memdir/pointer.ts";
import { canonicalRelative } from "../safety/path.ts";
import { createFileTools } from "../tools/file-tools.ts";
import type { KnownFiles } from "../tools/sandbox.ts";
import { checkMemory } from "./check-memory.ts";
import { checkRepeats, type Recalled } from "./check-repeats.ts";

interface ForkSandbox {
  /** The parent's mounts; all but the memory become read-only. */
  mounts: readonly Mount[];
  /** The mount point of the memory, and its files, written under the fork's name and lease. */
  directory: string;
  files: FileStore;
  /** What was recalled in the conversation. */
  recalled(): readonly Recalled[];
  /** The files that the fork knows: at first those of its parent. */
  seen: KnownFiles;
}

/**
 * The parent's tools by the same names, with other rights: they read what the parent may read, write
 * memories only, and delete nothing.
 */
export function extractionTools(sandbox: ForkSandbox): Map<string, Tool> {
  const { directory, seen } = sandbox;
  const mounts = sandbox.mounts.map((mount): Mount => {
    if (mount.at === directory) return { ...mount, store: checkedStore(sandbox) };
    return { ...mount, rights: "read" };
  });
  const tools = createFileTools({ mounts: createMounts(mounts), seen });
  return new Map(tools.map((tool) => [tool.name, isAllowed(tool) ? tool : refusingTool(tool)]));
}

/** A tool that changes something is refused unless it is named here, so that a new one is refused too. */
function isAllowed({ kind, name }: Tool): boolean {
  return kind === "read" || name === "Write" || name === "Edit";
}

function refusingTool(tool: Tool): Tool {
  const content = `Refused: ${tool.name} is not for a background run. Leave what is there, or Edit it`;
  return { ...tool, kind: "read", run: async () => errorResult(content) };
}

function checkedStore(sandbox: ForkSandbox): FileStore {
  const { files, recalled } = sandbox;
  return {
    ...files,
    async put(path, bytes, precondition) {
      // The caller's precondition names this content, so a change in between makes the write fail.
      const before = await files.get(path);
      const written = text(bytes);
      const replaced = before ? undefined : await replacedBy(sandbox, written);
      const reason =
        checkMemory(path, written, before && (await linesThatHold(files, before, written))) ??
        replaced?.problem ??
        (before ? undefined : checkRepeats(written, recalled()));
      if (reason !== undefined) {
        throw new MemdirError("invalid_request", `Refused: ${path} was not saved: ${reason}`, path);
      }
      return files.put(path, bytes, precondition);
    },
  };
}

/** The memory that a new file says it replaces. The fork has to know all that it said. */
async function replacedBy(
  { directory, files, seen }: ForkSandbox,
  written: string,
): Promise<{ path: string; problem?: string } | undefined> {
  const path = parseEntry(written).replaces;
  if (path === undefined || canonicalRelative(path).status !== "ok") return undefined;
  const old = await files.head(path);
  if (!old || seen.get(`${directory}/${path}`) === old.etag) return { path };
  return {
    path,
    problem: `it replaces ${path}, whose present text you have not seen. Read it first`,
  };
}

/** A file that was written to, without those lines of an index whose memory is gone: they may go. */
async function linesThatHold(
  files: FileStore,
  before: StoredFile,
  written: string,
): Promise<string> {
  if (before.path !== INDEX_FILE) return text(before.bytes);
  const left = new Set(written.split("\n"));
  const lines = text(before.bytes).split("\n");
  const holds = await Promise.all(
    lines.map(async (line) => {
      const target = left.has(line) ? undefined : parsePointer(line.trim())?.path;
      return target === undefined || (await files.head(target)) !== undefined;
    }),
  );
  return lines.filter((_line, n) => holds[n]).join("\n");
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
