// What the tests of the tools share: a session over stores in a Map, and its tools by name.

import { createMapStore } from "../files/map-store.ts";
import { createMounts, type Mount } from "../files/mounts.ts";
import type { FileStore } from "../files/store.ts";
import type { ToolNote, ToolResult, WriteTool } from "../loop/tool.ts";
import { createFileTools } from "./file-tools.ts";
import type { ToolEnv } from "./sandbox.ts";

const SIGNAL = new AbortController().signal;

export interface Session {
  env: ToolEnv;
  /** What the session has kept of notes. */
  seen: Map<string, string>;
  /** Runs a tool as a session does: reads, or plans and commits, and remembers the notes. */
  call(name: string, input: unknown): Promise<ToolResult>;
  tool(name: string): WriteTool;
  /** The plan of a writing tool; throws where it was refused. */
  plan(name: string, input: unknown): Promise<string>;
  commit(name: string, plan: string, resumed: boolean): Promise<ToolResult>;
}

/** One store at /memory; each put is one millisecond after the last. */
export function createMemory(): FileStore {
  let time = 0;
  return createMapStore(() => ++time);
}

export function mountOf(store: FileStore, options: Partial<Mount> = {}): Mount {
  return {
    at: "/memory",
    store,
    rights: "write",
    maxFileBytes: 250_000,
    label: "memory",
    ...options,
  };
}

export function openSession(...mounts: Mount[]): Session {
  const seen = new Map<string, string>();
  const env: ToolEnv = { mounts: createMounts(mounts), seen };
  const tools = createFileTools(env);

  function tool(name: string): WriteTool {
    const found = tools.find((each) => each.name === name);
    if (found?.kind !== "write") throw new Error(`No writing tool ${name}`);
    return found;
  }

  async function run(name: string, input: unknown): Promise<ToolResult> {
    const found = tools.find((each) => each.name === name);
    if (found?.kind === "read") return found.run(input, SIGNAL);
    const planned = await tool(name).plan(input, SIGNAL);
    if (planned.status === "refused") return planned.result;
    return tool(name).commit(planned.plan, false);
  }

  return {
    env,
    seen,
    tool,
    async call(name, input) {
      const result = await run(name, input);
      rememberNotes(seen, result.notes);
      return result;
    },
    async plan(name, input) {
      const planned = await tool(name).plan(input, SIGNAL);
      if (planned.status === "refused") throw new Error(planned.result.content);
      return planned.plan;
    },
    commit: (name, plan, resumed) => tool(name).commit(plan, resumed),
  };
}

/** Writes as somebody else would, beside the tools. */
export async function store(files: FileStore, path: string, text: string): Promise<string> {
  const result = await files.put(path, new TextEncoder().encode(text));
  return result.status === "written" ? result.entry.etag : "";
}

export async function stored(files: FileStore, path: string): Promise<string | undefined> {
  const file = await files.get(path);
  return file === undefined
    ? undefined
    : new TextDecoder("utf-8", { ignoreBOM: true }).decode(file.bytes);
}

/** What the recorder keeps of the notes of a result. */
function rememberNotes(seen: Map<string, string>, notes: readonly ToolNote[]): void {
  for (const note of notes) {
    if (note.type === "seen") seen.set(note.path, note.etag);
    else if (note.operation === "deleted") seen.delete(note.path);
  }
}
