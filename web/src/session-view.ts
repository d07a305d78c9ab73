import { type Api, explain } from "./api.ts";
import type { Composer } from "./composer.ts";
import { createConversation } from "./conversation.ts";
import { createEarlier } from "./earlier.ts";
import { need } from "./element.ts";
import type { SessionEvent } from "./event.ts";
import { type NewestEvents, readEvents, readSaved, sendEvent } from "./events.ts";
import { followSession } from "./follow.ts";
import { createOutbox } from "./outbox.ts";
import type { Roots } from "./paths.ts";
import type { StatusLine } from "./status-line.ts";
import { createTurnOrder } from "./turn-order.ts";

type Surroundings = {
  api: Api;
  composer: Composer;
  status: StatusLine;
  keepAtEnd: (change: () => void) => void;
  report: (message: string) => void;
  roots: Roots;
  /** Every stored event, after it is drawn; `live` is false while history is read. */
  onEvent: (event: SessionEvent, live: boolean) => void;
  /** History is about to be given out again. */
  onReset: () => void;
};

/** Opens a session in the middle of the page, until `close`. */
export function openSession(around: Surroundings, sessionId: string) {
  const { api, composer, status } = around;
  const scroller = need("conversation", HTMLElement);
  const flow = need("flow", HTMLElement);
  const conversation = createConversation({
    scroller,
    flow,
    waiting: need("waiting", HTMLElement),
    keepAtEnd: around.keepAtEnd,
    roots: around.roots,
    async decide(id, verdict) {
      const event = { type: "user.tool_confirmation" as const, tool_use_id: id, result: verdict };
      try {
        await sendEvent(api, sessionId, event, crypto.randomUUID());
        return true;
      } catch (error) {
        around.report(`Cannot answer for the tool: ${explain(error)}`);
        return false;
      }
    },
  });
  const outbox = createOutbox(conversation, (text, key) =>
    sendEvent(api, sessionId, { type: "user.message", content: [{ type: "text", text }] }, key),
  );
  let order = createTurnOrder(conversation.release);
  let live = false;
  const closing = new AbortController();
  const earlier = createEarlier({
    scroller,
    button: need("load-earlier", HTMLButtonElement),
    read: (page) => readEvents(api, sessionId, closing.signal, { page }),
    show(events) {
      conversation.prepend(events, order);
      for (const event of events) around.onEvent(event, false);
      showState();
    },
    report: around.report,
  });

  function showState(): void {
    const state = order.state();
    const running = state === "running" || state === "due";
    composer.setRunning(running && live);
    if (!live) return;
    const { length } = order.waiting();
    const waiting = length > 0 ? `, ${length} waiting` : "";
    if (state === "blocked") status.set("idle", "Waiting for an answer to a tool");
    else status.set(running ? "running" : "idle", (running ? "Running" : "Idle") + waiting);
  }

  function take(event: SessionEvent): void {
    if (event.kind === "running" && order.state() !== "running") status.startAnswer();
    order.take(event);
    if (event.kind === "user-message") {
      outbox.arrive(event.id, event.blocks.join("\n"));
      conversation.addUser(event.id, event.blocks, order.message(event.id));
    }
    if (event.kind === "request-end") status.addUsage(event.usage);
    conversation.draw(event);
    showState();
    around.onEvent(event, live);
  }

  function clear(): void {
    conversation.clear();
    status.clearUsage();
    order = createTurnOrder(conversation.release);
    earlier.from("");
  }

  /** What was saved before the events that are shown; it marks the files of the memory. */
  async function markSaved(): Promise<void> {
    try {
      const saved = await readSaved(api, sessionId, closing.signal);
      if (closing.signal.aborted) return;
      for (const event of saved) around.onEvent(event, false);
    } catch (error) {
      if (!closing.signal.aborted) around.report(`Cannot read what was saved: ${explain(error)}`);
    }
  }

  const listener = {
    event: take,
    preview: conversation.preview,
    connecting(): void {
      conversation.setBusy(true);
      if (!live) status.set("connecting", "Connecting…");
    },
    /** Its events come next, one by one. */
    newest({ before, earlier: page }: NewestEvents): void {
      order = createTurnOrder(conversation.release, before);
      earlier.from(page);
      if (page !== "") void markSaved();
    },
    connected(): void {
      live = true;
      conversation.setBusy(false);
      showState();
    },
    lost(retryInMs: number): void {
      live = false;
      conversation.freezePreviews();
      composer.setRunning(false);
      status.set("offline", `Connection lost, next try in ${Math.ceil(retryInMs / 1000)} s`);
    },
    reset(): void {
      clear();
      around.onReset();
    },
  };

  function ended(text: string): void {
    live = false;
    composer.setEnabled(false);
    composer.setRunning(false);
    conversation.setBusy(false);
    status.set("ended", text);
  }

  clear();
  composer.setEnabled(true);
  followSession(api, sessionId, listener, closing.signal).then(
    () => closing.signal.aborted || ended("This session was deleted"),
    (error: unknown) => {
      around.report(`Cannot follow the session: ${explain(error)}`);
      ended("Not connected");
    },
  );

  return {
    send: outbox.add,
    stop(): void {
      sendEvent(api, sessionId, { type: "user.interrupt" }, crypto.randomUUID()).catch((error) => {
        around.report(`Cannot stop the answer: ${explain(error)}`);
        composer.allowStop();
      });
    },
    close(): void {
      closing.abort();
      clear();
      earlier.close();
      outbox.clear();
      composer.setEnabled(false);
      composer.setRunning(false);
      status.set("none", "");
    },
  };
}

export type SessionView = ReturnType<typeof openSession>;
