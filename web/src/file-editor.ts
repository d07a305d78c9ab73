import { type Api, ApiError, explain } from "./api.ts";
import { button, confirmButton, element } from "./element.ts";
import { deleteFile, type OpenedFile, readFile, writeFile } from "./files.ts";

type Place = {
  api: Api;
  workspace: string;
  /** The list has to be read again. */
  changed: () => void;
  closed: () => void;
};

/** One open file: its text can be changed and stored over the version that was read, and no other. */
export function createFileEditor(place: Place, path: string) {
  const { api, workspace } = place;
  const area = element("textarea", { "aria-label": path, spellcheck: "false", wrap: "off" });
  const message = element("p", {
    class: "file-message",
    role: "status",
    "data-testid": "file-message",
  });
  const save = button("Save", () => void store(etag), {
    class: "primary",
    "data-testid": "file-save",
  });
  const remove = confirmButton("Delete", "Really delete?", () => void erase(), {
    "data-testid": "file-delete",
  });
  const dirty = () => !area.disabled && area.value !== stored;
  const close = confirmButton("Close", "Discard changes?", place.closed, {}, dirty);
  const buttons = element("div", { class: "buttons" }, save, remove, close);
  const name = element("h3", { class: "file-path" }, path);
  const node = element("div", { class: "file-editor" }, name, area, message, buttons);
  let etag = "";
  let stored = "";
  let crlf = false;

  function tell(text: string, ...actions: Node[]): void {
    message.classList.toggle("bad", actions.length > 0);
    message.replaceChildren(text, ...actions);
  }

  /** A 412 keeps the reader's text and offers both ways on. */
  function fail(doing: string, error: unknown): void {
    if (!(error instanceof ApiError) || error.status !== 412) {
      tell(`Cannot ${doing}: ${explain(error)}`);
      message.classList.add("bad");
      return;
    }
    tell(
      `Cannot ${doing}: the file was changed or deleted since you opened it. Your text is still here. `,
      button("Load the stored version", () => void load()),
      confirmButton("Keep mine", "Really replace theirs?", () => void replace()),
    );
  }

  function show(file: OpenedFile): void {
    etag = file.etag;
    // A text area knows LF only: a file in CRLF gets its line ends back when it is stored.
    crlf = file.text?.includes("\r\n") ?? false;
    area.value = file.text ?? "";
    stored = area.value;
    area.disabled = file.text === undefined;
    save.disabled = file.text === undefined;
    tell(file.text === undefined ? "Not a text file: it can be deleted here, not edited" : "");
  }

  async function attempt(doing: string, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      fail(doing, error);
    }
  }

  const load = () => attempt("read", async () => show(await readFile(api, workspace, path)));

  const store = (over: string | undefined) =>
    attempt("save", async () => {
      const text = crlf ? area.value.replaceAll("\n", "\r\n") : area.value;
      const shown = area.value;
      etag = await writeFile(api, workspace, path, text, over);
      stored = shown;
      tell("Saved");
      place.changed();
    });

  const replace = () =>
    attempt("save", async () => {
      const current = await readFile(api, workspace, path).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      });
      await store(current?.etag);
    });

  const erase = () =>
    attempt("delete", async () => {
      await deleteFile(api, workspace, path, etag);
      place.changed();
      place.closed();
    });

  void load();
  return { node, dirty };
}
