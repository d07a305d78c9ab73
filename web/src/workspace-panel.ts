import { type Api, ApiError, explain } from "./api.ts";
import { button, element } from "./element.ts";
import { createFileEditor } from "./file-editor.ts";
import { type FileEntry, listFiles, pathProblem, writeFile } from "./files.ts";

/** The files of one workspace: list, view, edit, new, delete. */
export function createWorkspacePanel(api: Api, panel: HTMLElement) {
  let workspace = "";
  let asked = 0;
  let hasChanges = () => false;
  const title = element("h2", { class: "panel-title" });
  const message = element("p", { class: "file-message", role: "status" });
  const list = element("ul", {
    class: "file-list",
    "data-testid": "file-list",
    "aria-label": "Files",
  });
  const editor = element("div", {});
  const path = element("input", {
    "aria-label": "Path of the new file",
    placeholder: "notes/new-file.md",
    "data-testid": "new-file-path",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
  });
  const submit = element("button", { type: "submit", "data-testid": "new-file" }, "New file");
  const form = element("form", { class: "row" }, path, submit);
  const refresh = button("Refresh", () => void load(), { class: "quiet" });
  panel.append(element("div", { class: "row" }, title, refresh), message, list, form, editor);

  function tell(text: string): void {
    message.textContent = text;
  }

  function open(file: string): void {
    if (hasChanges()) {
      tell("Save or close the open file first: it has changes");
      return;
    }
    const place = { api, workspace, changed: () => void load(), closed: close };
    const { node, dirty } = createFileEditor(place, file);
    hasChanges = dirty;
    editor.replaceChildren(node);
    editor.scrollIntoView({ block: "nearest" });
  }

  function close(): void {
    hasChanges = () => false;
    editor.replaceChildren();
    tell("");
  }

  function row({ path, size }: FileEntry): HTMLElement {
    const attributes = { class: "file-open", "data-testid": "file-item", "data-path": path };
    const node = button("", () => open(path), attributes);
    node.append(
      element("span", { class: "file-name" }, path),
      element("span", { class: "hint" }, formatSize(size)),
    );
    return element("li", {}, node);
  }

  async function load(): Promise<void> {
    const turn = ++asked;
    if (workspace === "") return;
    try {
      const files = await listFiles(api, workspace).catch((error: unknown) => {
        // A workspace begins with its first file.
        if (error instanceof ApiError && error.status === 404) return [];
        throw error;
      });
      if (turn !== asked) return;
      list.replaceChildren(...files.map(row));
      tell(files.length === 0 ? "No files yet" : "");
    } catch (error) {
      if (turn === asked) tell(`Cannot list the files: ${explain(error)}`);
    }
  }

  async function create(): Promise<void> {
    const name = path.value.trim();
    const problem = pathProblem(name);
    if (problem) return tell(problem);
    try {
      await writeFile(api, workspace, name, "", undefined);
      path.value = "";
      await load();
      open(name);
    } catch (error) {
      const taken = error instanceof ApiError && error.status === 412;
      tell(`Cannot create ${name}: ${taken ? "it exists already" : explain(error)}`);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void create();
  });

  return {
    load,
    /** Turns to another workspace; an open file of the former one is closed. */
    show(id: string): void {
      if (id === workspace) return;
      workspace = id;
      title.textContent = id;
      list.replaceChildren();
      close();
      void load();
    },
  };
}

function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return `${(bytes / 1024).toFixed(1)} KB`;
}
