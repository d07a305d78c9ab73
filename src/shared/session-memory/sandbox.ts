import { MemdirError } from "../errors.ts";
import { createMapStore } from "../files/map-store.ts";
import { createMounts } from "../files/mounts.ts";
import type { FileStore } from "../files/store.ts";
import { NOTES_BYTES } from "../limits/notes.ts";
import type { Tool, ToolResult, ToolSpec, WriteTool } from "../loop/tool.ts";
import { errorResult } from "../loop/tool.ts";
import { canonicalPath, showPath } from "../safety/path.ts";
import { createEditTool } from "../tools/edit.ts";
import { checkChange } from "./check-notes.ts";
import { NOTES_PATH } from "./template.ts";

/** A private copy of the notes, and the tools that change it. */
export interface NotesCopy {
  tools: Map<string, Tool>;
  read(): Promise<string>;
}

const FOLDER = NOTES_PATH.slice(0, NOTES_PATH.lastIndexOf("/"));
const FILE = NOTES_PATH.slice(FOLDER.length + 1);
const ALLOWED = `the one tool of this run is Edit, on ${NOTES_PATH} alone`;

/**
 * Copies the notes for a fork. Its tools are the parent's, with the same names and descriptions; only
 * Edit works, on the copy. It refuses a change that loses a heading or all that was noted.
 */
export async function copyNotes(
  notes: string,
  parents: readonly ToolSpec[],
  now: () => number,
): Promise<NotesCopy> {
  const store = createMapStore(now);
  await store.put(FILE, new TextEncoder().encode(notes));
  const read = async () => new TextDecoder().decode((await store.get(FILE))?.bytes);
  const mounts = createMounts([
    {
      at: FOLDER,
      store: checkedStore(store, read),
      rights: "write",
      maxFileBytes: NOTES_BYTES,
      label: "session notes",
    },
  ]);
  const edit = createEditTool({ mounts, seen: new Map() });
  const tools = parents.map((spec): Tool => {
    const { name, description, input_schema } = spec;
    const same = { name, description, input_schema };
    return name === edit.name ? { ...onNotesOnly(edit), ...same } : refusingTool(same);
  });
  return { tools: new Map(tools.map((tool) => [tool.name, tool])), read };
}

function onNotesOnly(edit: WriteTool): WriteTool {
  return {
    ...edit,
    async plan(input, signal) {
      const raw: unknown = Object(input).file_path;
      if (typeof raw === "string") {
        const path = canonicalPath(raw);
        if (path.status === "refused" || path.path !== NOTES_PATH) {
          return { status: "refused", result: refusal(`Edit on ${showPath(raw)}`) };
        }
      }
      return edit.plan(input, signal);
    },
  };
}

function refusingTool(spec: ToolSpec): Tool {
  return { ...spec, kind: "read", run: async () => refusal(spec.name) };
}

function refusal(what: string): ToolResult {
  return errorResult(`Refused: ${what}: ${ALLOWED}`);
}

function checkedStore(store: FileStore, read: () => Promise<string>): FileStore {
  return {
    ...store,
    async put(path, bytes, precondition) {
      const reason = checkChange(await read(), new TextDecoder().decode(bytes));
      if (reason !== undefined) {
        throw new MemdirError("invalid_request", `Refused: ${reason}`, NOTES_PATH);
      }
      return store.put(path, bytes, precondition);
    },
  };
}
