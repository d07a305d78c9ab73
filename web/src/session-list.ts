import { type Api, explain } from "./api.ts";
import { button, confirmButton, element, need } from "./element.ts";
import { formatTime } from "./format.ts";
import {
  createSession,
  deleteSession,
  listSessions,
  type Session,
  sessionLabel,
} from "./sessions.ts";

type Listener = {
  open: (session: Session) => void;
  deleted: (id: string) => void;
  report: (message: string) => void;
};

/** The left panel: every session of this user, newest as the service orders them. */
export function createSessionList(api: Api, listener: Listener) {
  const list = need("session-list", HTMLUListElement);
  const more = need("more-sessions", HTMLButtonElement);
  const form = need("new-session-form", HTMLFormElement);
  const workspace = need("workspace-input", HTMLInputElement);
  const title = need("title-input", HTMLInputElement);
  let sessions: Session[] = [];
  let nextPage = "";
  let selected = "";

  function row(session: Session): HTMLElement {
    const current = session.id === selected;
    const open = button("", () => listener.open(session), {
      class: "session-open",
      "aria-current": current ? "true" : undefined,
    });
    open.append(
      element("span", { class: "session-name" }, sessionLabel(session)),
      element(
        "span",
        { class: "hint" },
        element("span", { class: "badge", "data-state": session.status }, session.status),
        ` · ${session.workspace} · ${formatTime(session.createdAt)}`,
      ),
    );
    const remove = confirmButton("Delete", "Really delete?", () => void removeOne(session.id), {
      class: "quiet session-delete",
      "aria-label": `Delete ${sessionLabel(session)}`,
    });
    const attributes = { "data-testid": "session-item", "data-session-id": session.id };
    return element("li", { class: "session-item", ...attributes }, open, remove);
  }

  function draw(): void {
    const empty = element("li", { class: "hint" }, "No sessions yet");
    list.replaceChildren(...(sessions.length > 0 ? sessions.map(row) : [empty]));
    more.hidden = nextPage === "";
  }

  async function load(page: string): Promise<void> {
    try {
      const answer = await listSessions(api, page);
      const fresh = new Set(answer.sessions.map((session) => session.id));
      const before = page ? sessions.filter((session) => !fresh.has(session.id)) : [];
      sessions = [...before, ...answer.sessions];
      nextPage = answer.nextPage;
      draw();
    } catch (error) {
      listener.report(`Cannot list the sessions: ${explain(error)}`);
    }
  }

  async function removeOne(id: string): Promise<void> {
    try {
      await deleteSession(api, id);
      sessions = sessions.filter((session) => session.id !== id);
      draw();
      listener.deleted(id);
    } catch (error) {
      listener.report(`Cannot delete the session: ${explain(error)}`);
    }
  }

  async function create(): Promise<void> {
    const submit = form.querySelector("button");
    if (submit) submit.disabled = true;
    try {
      const session = await createSession(api, workspace.value.trim(), title.value.trim());
      title.value = "";
      sessions = [session, ...sessions.filter((other) => other.id !== session.id)];
      listener.open(session);
    } catch (error) {
      listener.report(`Cannot create a session: ${explain(error)}`);
    }
    if (submit) submit.disabled = false;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void create();
  });
  more.addEventListener("click", () => void load(nextPage));

  return {
    load: () => load(""),
    create,
    workspace: () => workspace.value.trim(),
    select(id: string): void {
      selected = id;
      draw();
    },
    setStatus(id: string, status: string): void {
      const session = sessions.find((other) => other.id === id);
      if (!session || session.status === status) return;
      session.status = status;
      const badge = list.querySelector(`[data-session-id="${CSS.escape(id)}"] .badge`);
      if (!(badge instanceof HTMLElement)) return;
      badge.textContent = status;
      badge.dataset.state = status;
    },
  };
}
