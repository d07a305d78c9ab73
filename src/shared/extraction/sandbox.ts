import { MemdirError } from "../errors.ts";
import type { Mount } from "../files/mounts.ts";
import { createMounts } from "../files/mounts.ts";
import type { FileStore } from "../files/store.ts";
import type { Tool } from "../loop/tool.ts";
import { errorResult } from "../loop/tool.ts";
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
  const { directory, files, seen, recalled } = sandbox;
  const mounts = sandbox.mounts.map((mount): Mount => {
    if (mount.at === directory) return { ...mount, store: checkedStore(files, recalled) };
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

function checkedStore(files: FileStore, recalled: ForkSandbox["recalled"]): FileStore {
  return {
    ...files,
    async put(path, bytes, precondition) {
      // The caller's precondition names this content, so a change in between makes the write fail.
      const before = await files.get(path);
      const written = text(bytes);
      const reason =
        checkMemory(path, written, before && text(before.bytes)) ??
        (before ? undefined : checkRepeats(written, recalled()));
      if (reason !== undefined) {
        throw new MemdirError("invalid_request", `Refused: ${path} was not saved: ${reason}`, path);
      }
      return files.put(path, bytes, precondition);
    },
  };
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
