import { explain } from "./api.ts";
import { button, element } from "./element.ts";
import type { Editor, EditorPlace } from "./file-editor.ts";

/** How an entry of the list is shown; `path` tells it apart and stands in full in `data-path`. */
type Row = { path: string; full: string; mark: string; hint: string };

type Kind<Entry> = {
  label: string;
  listTestId: string;
  itemTestId: string;
  /** Said of an empty list. */
  empty: string;
  list: () => Promise<Entry[]>;
  row: (entry: Entry) => Row;
  edit: (entry: Entry, place: EditorPlace) => Editor;
};

/** A list of texts and the one that is open: what the workspace and the memory have in common. */
export function createFilePanel<Entry>(kind: Kind<Entry>) {
  let asked = 0;
  let entries: Entry[] = [];
  let opened: { path: string; editor: Editor } | undefined;
  const message = element("p", { class: "file-message", role: "status" });
  const list = element("ul", {
    class: "file-list",
    "data-testid": kind.listTestId,
    "aria-label": kind.label,
  });
  const place = element("div", {});
  const refresh = button("Refresh", () => void reload(), { class: "quiet" });

  function tell(text: string): void {
    message.textContent = text;
  }

  function open(entry: Entry): void {
    if (opened?.editor.dirty()) {
      tell("Save or close the open file first: it has changes");
      return;
    }
    const editor = kind.edit(entry, { changed: () => void load(), closed: close });
    opened = { path: kind.row(entry).path, editor };
    place.replaceChildren(editor.node);
    tell("");
    draw();
    editor.node.scrollIntoView({ block: "nearest" });
  }

  function close(): void {
    opened = undefined;
    place.replaceChildren();
    tell("");
    draw();
  }

  function rowNode(entry: Entry): HTMLElement {
    const { path, full, mark, hint } = kind.row(entry);
    const node = button("", () => open(entry), {
      class: "file-open",
      "data-testid": kind.itemTestId,
      "data-path": full,
      title: full,
      "aria-current": opened?.path === path ? "true" : undefined,
    });
    node.append(
      element("span", { class: "file-name" }, path),
      ...(mark === "" ? [] : [element("span", { class: "file-mark" }, mark)]),
      element("span", { class: "hint" }, hint),
    );
    return element("li", {}, node);
  }

  /** Draws the rows anew and leaves the focus where it was. */
  function draw(): void {
    const focused = [...list.children].findIndex((row) => row.contains(document.activeElement));
    list.replaceChildren(...entries.map(rowNode));
    const again = list.children[focused]?.firstElementChild;
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }

  async function load(): Promise<void> {
    const turn = ++asked;
    try {
      const found = await kind.list();
      if (turn !== asked) return;
      entries = found;
      draw();
      tell(entries.length === 0 ? kind.empty : "");
    } catch (error) {
      if (turn === asked) tell(`Cannot list the files: ${explain(error)}`);
    }
  }

  async function reload(): Promise<void> {
    await Promise.all([load(), opened?.editor.refresh()]);
  }

  return {
    refresh,
    nodes: [message, list],
    editor: place,
    tell,
    open,
    draw,
    load,
    /** Reads the list again, and the open text unless it has changes. */
    reload,
    /** Forgets everything, an open text too; what is being read is not shown any more. */
    clear(): void {
      asked++;
      entries = [];
      close();
    },
  };
}
