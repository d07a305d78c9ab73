import { type Api, explain } from "./api.ts";
import { button, confirmButton, element } from "./element.ts";
import { formatTime } from "./format.ts";
import { listVersions, readVersion, restoreVersion, type Version } from "./memories.ts";

type Where = { api: Api; store: string; sessionId: () => string };
type Text = { dirty: () => boolean; restored: () => void };

/** The versions of a memory, newest first: time, operation and author of each. */
export function createVersionList(
  { api, store, sessionId }: Where,
  memoryId: () => string,
  text: Text,
) {
  let asked = 0;
  let nextPage = "";
  const list = element("ol", { class: "version-list", "data-testid": "memory-versions" });
  const message = element("p", { class: "file-message", role: "status" });
  const more = button("Older versions", () => void add(), { class: "quiet", hidden: true });
  const node = element(
    "section",
    { class: "versions" },
    element("h3", {}, "Versions"),
    message,
    list,
    more,
  );

  async function attempt(doing: string, action: () => Promise<void>): Promise<void> {
    try {
      message.textContent = "";
      await action();
    } catch (error) {
      message.textContent = `Cannot ${doing}: ${explain(error)}`;
    }
  }

  function item(version: Version, isPresent: boolean): HTMLElement {
    const { id, operation, at, by, hasContent, redacted } = version;
    const shown = element("pre", { "data-testid": "version-text", tabindex: "0", hidden: true });
    const view = button("View", () => void toggle(), {
      "aria-expanded": "false",
      "data-testid": "version-view",
    });
    const toggle = () =>
      attempt("read the version", async () => {
        if (shown.hidden) shown.textContent = (await readVersion(api, store, id)) ?? "(not text)";
        shown.hidden = !shown.hidden;
        view.textContent = shown.hidden ? "View" : "Hide";
        view.setAttribute("aria-expanded", String(!shown.hidden));
      });
    const restore = confirmButton(
      "Restore",
      "Discard changes?",
      () =>
        void attempt("restore the version", async () => {
          await restoreVersion(api, store, id);
          text.restored();
          await load();
        }),
      { "data-testid": "version-restore" },
      text.dirty,
    );
    const facts = element(
      "span",
      { class: "version-facts" },
      element("b", {}, redacted ? `${operation}, redacted` : operation),
      element(
        "span",
        { class: "hint", title: "id" in by ? by.id : undefined },
        ` ${authorOf(by, sessionId())} · ${formatTime(at)}${isPresent ? " · present" : ""}`,
      ),
    );
    const buttons = hasContent ? [view, ...(isPresent ? [] : [restore])] : [];
    return element(
      "li",
      { "data-testid": "version-item", "data-operation": operation },
      element("div", { class: "row" }, facts, element("span", { class: "buttons" }, ...buttons)),
      shown,
    );
  }

  async function read(page: string): Promise<void> {
    const turn = ++asked;
    await attempt("list the versions", async () => {
      const found = await listVersions(api, store, memoryId(), page);
      if (turn !== asked) return;
      if (page === "") list.replaceChildren();
      const first = list.children.length === 0;
      list.append(...found.versions.map((version, at) => item(version, first && at === 0)));
      nextPage = found.nextPage;
      more.hidden = nextPage === "";
    });
  }

  const load = () => read("");
  const add = () => read(nextPage);
  return { node, load };
}

/** A session, a user, or a change that was found in the bucket. */
export function authorOf(by: Version["by"], sessionId: string): string {
  switch (by.kind) {
    case "session":
      return by.id === sessionId ? "by this session" : `by session ${by.id.slice(-6)}`;
    case "user":
      return `by user ${by.id}`;
    case "outside":
      return "from outside";
  }
}
