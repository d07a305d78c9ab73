import { MemdirError } from "../errors.ts";
import type { Mount } from "../files/mounts.ts";
import { createMounts } from "../files/mounts.ts";
import type { FileStore } from "../files/store.ts";
import type { Tool } from "../loop/tool.ts";
import { createFileTools } from "../tools/file-tools.ts";
import type { KnownFiles } from "../tools/sandbox.ts";
import { checkMemory } from "./check-memory.ts";
import { type Known, repeats } from "./repeats.ts";

export interface ForkSandbox {
  /** The parent's places; all but the memory become read-only. */
  mounts: readonly Mount[];
  /** Where the memory is mounted, and its files with the fork's own name and lease. */
  directory: string;
  files: FileStore;
  /** What is saved already, and what the conversation was shown of it. */
  known(): Promise<Known>;
  /** What the fork knows of each file: first what its parent knew. */
  seen: KnownFiles;
}

/**
 * The tools of an extraction fork: the parent's, by the same names, with other rights. It reads what
 * its parent may read, writes memories and nothing else, and deletes nothing.
 */
export function extractionTools(sandbox: ForkSandbox): Map<string, Tool> {
  const { directory, files, seen, known } = sandbox;
  const mounts = sandbox.mounts.map((mount): Mount => {
    if (mount.at === directory) return { ...mount, store: checked(files, known) };
    return { ...mount, rights: "read" };
  });
  const tools = createFileTools({ mounts: createMounts(mounts), seen });
  return new Map(tools.map((tool) => [tool.name, allowed(tool) ? tool : refusing(tool)]));
}

/** Of the tools that change something two are a fork's; one that comes later is not, unless it is named. */
function allowed({ kind, name }: Tool): boolean {
  return kind === "read" || name === "Write" || name === "Edit";
}

function refusing(tool: Tool): Tool {
  const content = `Refused: ${tool.name} is not for a background run. Leave what is there, or Edit it`;
  const result = { content, isError: true, notes: [] };
  return { ...tool, kind: "read", run: async () => result };
}

function checked(files: FileStore, known: ForkSandbox["known"]): FileStore {
  return {
    ...files,
    async put(path, bytes, precondition) {
      // What is decided on is what the write is conditional on: a change in between refuses it.
      const before = await files.get(path);
      const written = text(bytes);
      const reason =
        checkMemory(path, written, before && text(before.bytes)) ??
        (before ? undefined : repeats(written, await known()));
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
