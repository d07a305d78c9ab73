import { ApiError, explain } from "./api.ts";
import { button, confirmButton, element } from "./element.ts";

/** A stored text. A version is what a change of it is conditional on. */
export type TextSource = {
  /** `text` is undefined where it is not UTF-8 text. */
  read: () => Promise<{ text: string | undefined; version: string }>;
  /** Over that version, or where nothing may be yet (`undefined`); answers with the new version. */
  write: (text: string, over: string | undefined) => Promise<string>;
  remove: (version: string) => Promise<void>;
  /** True for the refusal of a change because the text has another version, or is gone. */
  isConflict: (error: ApiError) => boolean;
};

export type EditorPlace = {
  /** The list has to be read again. */
  changed: () => void;
  closed: () => void;
};

export type Editor = {
  node: HTMLElement;
  dirty: () => boolean;
  /** Shows what is stored now, unless there are changes to lose. */
  refresh: () => Promise<void>;
};

/** One open text: it can be changed and stored over the version that was read, and no other. */
export function createFileEditor(
  source: TextSource,
  path: string,
  place: EditorPlace,
): Editor & { reload: () => Promise<void> } {
  const area = element("textarea", { "aria-label": path, spellcheck: "false", wrap: "off" });
  const message = element("p", {
    class: "file-message",
    role: "status",
    "data-testid": "file-message",
  });
  const save = button("Save", () => void store(version), {
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
  let version = "";
  let stored = "";
  let crlf = false;

  function tell(text: string, ...actions: Node[]): void {
    message.classList.toggle("bad", actions.length > 0);
    message.replaceChildren(text, ...actions);
  }

  /** A conflict keeps the reader's text and offers both ways on. */
  function fail(doing: string, error: unknown): void {
    if (doing === "read" || !(error instanceof ApiError && source.isConflict(error))) {
      tell(`Cannot ${doing}: ${explain(error)}`);
      message.classList.add("bad");
      return;
    }
    tell(
      `Cannot ${doing}: it was changed or deleted since you opened it. Your text is still here. `,
      button("Load the stored version", () => void reload()),
      confirmButton("Keep mine", "Really replace theirs?", () => void replace()),
    );
  }

  function show(file: Awaited<ReturnType<TextSource["read"]>>): void {
    version = file.version;
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

  const reload = () => attempt("read", async () => show(await source.read()));

  const refresh = async () => {
    if (dirty()) return;
    await attempt("read", async () => {
      const file = await source.read();
      if (!dirty() && file.version !== version) show(file);
    });
  };

  const store = (over: string | undefined) =>
    attempt("save", async () => {
      const text = crlf ? area.value.replaceAll("\n", "\r\n") : area.value;
      const shown = area.value;
      version = await source.write(text, over);
      stored = shown;
      tell("Saved");
      place.changed();
    });

  const replace = () =>
    attempt("save", async () => {
      const current = await source.read().catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      });
      await store(current?.version);
    });

  const erase = () =>
    attempt("delete", async () => {
      await source.remove(version);
      place.changed();
      place.closed();
    });

  void reload();
  return { node, dirty, refresh, reload };
}
