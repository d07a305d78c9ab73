import { type Api, ApiError, explain } from "./api.ts";
import { element } from "./element.ts";
import { createFileEditor } from "./file-editor.ts";
import { createFilePanel } from "./file-panel.ts";
import { type FileEntry, fileText, listFiles, pathProblem, writeFile } from "./files.ts";
import { formatSize } from "./format.ts";

/** The files of one workspace: list, view, edit, new, delete. */
export function createWorkspacePanel(api: Api, panel: HTMLElement) {
  let workspace = "";
  const title = element("h2", { class: "panel-title" });
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
  const files = createFilePanel<FileEntry>({
    label: "Files",
    listTestId: "file-list",
    itemTestId: "file-item",
    empty: "No files yet",
    list: async () => (workspace === "" ? [] : listFiles(api, workspace)),
    row: ({ path, size }) => ({ path, full: path, mark: "", hint: formatSize(size) }),
    edit: ({ path }, place) => createFileEditor(fileText(api, workspace, path), path, place),
  });
  const head = element("div", { class: "row" }, title, files.refresh);
  panel.append(head, ...files.nodes, form, files.editor);

  async function create(): Promise<void> {
    const name = path.value.trim();
    const problem = pathProblem(name);
    if (problem) return files.tell(problem);
    try {
      await writeFile(api, workspace, name, "", undefined);
      path.value = "";
      await files.load();
      files.open({ path: name, size: 0 });
    } catch (error) {
      const taken = error instanceof ApiError && error.status === 412;
      files.tell(`Cannot create ${name}: ${taken ? "it exists already" : explain(error)}`);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void create();
  });

  return {
    reload: files.reload,
    /** Turns to another workspace; an open file of the former one is closed. */
    show(id: string): void {
      if (id === workspace) return;
      workspace = id;
      title.textContent = id;
      files.clear();
      void files.load();
    },
  };
}
