import { type Api, explain } from "./api.ts";
import { createComposer } from "./composer.ts";
import { need } from "./element.ts";
import { createEndKeeper } from "./end-keeper.ts";
import { reportError } from "./errors.ts";
import type { SessionEvent } from "./event.ts";
import { createMemoryPanel } from "./memory-panel.ts";
import { createSavedMemory } from "./saved-memory.ts";
import { createSessionList } from "./session-list.ts";
import { openSession, type SessionView } from "./session-view.ts";
import { readSession, type Session, sessionLabel } from "./sessions.ts";
import { createStatusLine } from "./status-line.ts";
import { wirePanels, wireTabs } from "./tabs.ts";
import { putSessionInAddress, sessionInAddress } from "./token.ts";
import { createWorkspacePanel } from "./workspace-panel.ts";

/** Joins the panels: what happens in one is told to the others here and nowhere else. */
export function startApp(api: Api): void {
  const title = need("session-title", HTMLElement);
  const status = createStatusLine(need("status", HTMLElement), need("usage", HTMLElement));
  const files = createWorkspacePanel(api, need("workspace-panel", HTMLElement));
  const saved = createSavedMemory();
  const memory = createMemoryPanel(api, need("memory-panel", HTMLElement), saved.has);
  const showPanel = wirePanels(need("panels", HTMLElement), need("app", HTMLElement));
  const scroller = need("conversation", HTMLElement);
  // Whoever has only a keyboard must be able to scroll it.
  scroller.tabIndex = 0;
  const keepAtEnd = createEndKeeper(scroller);
  let session: Session | undefined;
  let view: SessionView | undefined;

  const composer = createComposer({
    send: (text) => view?.send(text),
    stop: () => view?.stop(),
  });
  const list = createSessionList(api, { open, deleted, report: reportError });
  const welcome = need("welcome", HTMLElement);
  need("start-session", HTMLButtonElement).addEventListener("click", () => void list.create());
  welcome.hidden = false;

  async function refreshSession(id: string): Promise<void> {
    try {
      const fresh = await readSession(api, id);
      if (session?.id !== id) return;
      session = fresh;
      title.textContent = sessionLabel(fresh);
      files.show(fresh.workspace || list.workspace());
    } catch (error) {
      if (session?.id === id) reportError(`Cannot read the session: ${explain(error)}`);
    }
  }

  function onEvent(event: SessionEvent, live: boolean): void {
    if (saved.take(event)) memory.saved(live);
    if (!session || !live) return;
    if (event.kind === "running") list.setStatus(session.id, "running");
    if (event.kind === "deleted") void list.load();
    if (event.kind !== "idle") return;
    list.setStatus(session.id, "idle");
    void files.reload();
    void refreshSession(session.id);
  }

  function leave(): void {
    view?.close();
    view = undefined;
    session = undefined;
    saved.clear();
    welcome.hidden = false;
    title.textContent = "No session";
  }

  function open(chosen: Session): void {
    leave();
    session = chosen;
    title.textContent = sessionLabel(chosen);
    list.select(chosen.id);
    putSessionInAddress(chosen.id);
    welcome.hidden = true;
    memory.show(chosen);
    if (chosen.workspace) files.show(chosen.workspace);
    const roots = {
      memory: chosen.autoMemory?.directory ?? "",
      workspace: `/workspace/${chosen.workspace}`,
    };
    view = openSession(
      {
        api,
        composer,
        status,
        keepAtEnd,
        report: reportError,
        roots,
        onEvent,
        onReset: saved.clear,
      },
      chosen.id,
    );
    void refreshSession(chosen.id);
    showPanel("chat");
    composer.focus();
  }

  function deleted(id: string): void {
    if (session?.id !== id) return;
    leave();
    list.select("");
    putSessionInAddress("");
    memory.show(undefined);
  }

  async function restore(id: string): Promise<void> {
    try {
      open(await readSession(api, id));
    } catch (error) {
      putSessionInAddress("");
      reportError(`Cannot open session ${id}: ${explain(error)}`);
    }
  }

  wireTabs(need("tabs", HTMLElement));
  void list.load();
  const named = sessionInAddress();
  if (named) void restore(named);
  else files.show(list.workspace());
}
