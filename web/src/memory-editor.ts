import type { Api } from "./api.ts";
import { element } from "./element.ts";
import { createFileEditor, type Editor, type EditorPlace } from "./file-editor.ts";
import { type Memory, memoryText } from "./memories.ts";
import { createVersionList } from "./version-list.ts";

/** One open memory: its text, and below it its versions, each to be viewed and restored. */
export function createMemoryEditor(
  where: { api: Api; store: string; sessionId: () => string },
  { id, path }: Memory,
  place: EditorPlace,
): Editor {
  const memory = { id, path };
  const text = createFileEditor(memoryText(where.api, where.store, memory), path, {
    changed() {
      void versions.load();
      place.changed();
    },
    closed: place.closed,
  });
  const versions = createVersionList(where, () => memory.id, {
    dirty: text.dirty,
    restored() {
      void text.reload();
      place.changed();
    },
  });
  void versions.load();
  return {
    node: element("div", {}, text.node, versions.node),
    dirty: text.dirty,
    async refresh() {
      await Promise.all([text.refresh(), versions.load()]);
    },
  };
}
