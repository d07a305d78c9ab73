import type { Api } from "./api.ts";
import { element } from "./element.ts";
import { createFilePanel } from "./file-panel.ts";
import { formatTime } from "./format.ts";
import { listMemories, type Memory } from "./memories.ts";
import { createMemoryEditor } from "./memory-editor.ts";
import type { AutoMemory, Session } from "./sessions.ts";

/** The memory tab: what the session's store holds, and how auto memory stands for the session. */
export function createMemoryPanel(
  api: Api,
  panel: HTMLElement,
  isSaved: (memoryId: string) => boolean,
) {
  let session: Session | undefined;
  const store = () => session?.autoMemory?.storeId ?? "";
  const memories = createFilePanel<Memory>({
    label: "Memories",
    listTestId: "memory-list",
    itemTestId: "memory-file",
    empty: "Nothing is remembered yet. Say: Remember that …",
    list: async () => (store() === "" ? [] : listMemories(api, store())),
    row: ({ id, path, updatedAt }) => ({
      path,
      full: `${session?.autoMemory?.directory ?? ""}/${path}`,
      mark: isSaved(id) ? "saved here" : "",
      hint: formatTime(updatedAt),
    }),
    edit: (memory, place) =>
      createMemoryEditor(
        { api, store: store(), sessionId: () => session?.id ?? "" },
        memory,
        place,
      ),
  });
  const none = element("p", {}, "Open a session to see its memory.");
  const facts = element("div", { class: "panel" });
  const title = element("h2", { class: "panel-title" }, "Memories");
  const browser = element(
    "div",
    { class: "panel" },
    element("div", { class: "row" }, title, memories.refresh),
    ...memories.nodes,
    memories.editor,
  );
  panel.append(none, browser, facts);
  show(undefined);

  function show(chosen: Session | undefined): void {
    const before = store();
    session = chosen;
    none.hidden = session !== undefined;
    browser.hidden = store() === "";
    facts.replaceChildren(...(session ? describe(session.autoMemory) : []));
    if (store() !== before) memories.clear();
    else memories.draw();
    if (store() !== "") void memories.reload();
  }

  return {
    /** Turns to the memory of another session; an open memory of another store is closed. */
    show,
    /** The session saved something: what the list marks is drawn, and where it is new, read. */
    saved(isNew: boolean): void {
      if (isNew) void memories.reload();
      else memories.draw();
    },
  };
}

function describe(memory: AutoMemory | undefined): HTMLElement[] {
  const title = element("h2", { class: "panel-title" }, "Auto memory");
  if (!memory) return [title, element("p", {}, "The service says nothing about it.")];
  const rows: [string, string][] = [
    ["State", memory.enabled ? "On" : "Off"],
    ["Rule", memory.rule],
    ["Directory", memory.directory],
    ["Store", memory.storeId],
  ];
  const facts = rows
    .filter(([, value]) => value !== "")
    .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  const list = element("dl", { class: "facts", "data-testid": "auto-memory" }, ...facts);
  if (memory.ignored.length === 0) return [title, list];
  const ignored = memory.ignored.map(({ source, key, reason }) =>
    element("li", {}, element("code", {}, key), ` from ${source}: ${reason}`),
  );
  return [
    title,
    list,
    element("h3", {}, "Ignored settings"),
    element("ul", { class: "plain-list" }, ...ignored),
  ];
}
