import { element } from "./element.ts";
import type { Preview, SavedMemory, SessionEvent } from "./event.ts";
import { stateBefore } from "./events.ts";
import { createMessageView, type MessageView } from "./message-view.ts";
import type { Roots } from "./paths.ts";
import { createPreviews } from "./previews.ts";
import { savedLine } from "./saved-memory.ts";
import { createToolCall, type Decide, type ToolCallView } from "./tool-call.ts";
import { createTurnOrder, type TurnOrder } from "./turn-order.ts";

type Places = {
  scroller: HTMLElement;
  flow: HTMLElement;
  waiting: HTMLElement;
  keepAtEnd: (change: () => void) => void;
  roots: Roots;
  decide: Decide;
};

/** Reasons to stop that need no line of their own. */
const QUIET_REASONS = ["", "end_turn", "requires_action"];
/** Events that are only mentioned, and read better in words. */
const WORDS: Record<string, string> = {
  "user.interrupt": "Stop requested",
  "agent.thinking": "Thinking",
};

/** Draws stored events in their order, and previews until their message is stored. */
export function createConversation({ scroller, flow, waiting, keepAtEnd, roots, decide }: Places) {
  const toolCalls = new Map<string, ToolCallView>();
  /** What became of calls that are not drawn yet: they stand before the events that are. */
  const outcomes = new Map<string, ((call: ToolCallView) => void)[]>();
  const messages = new Map<string, MessageView>();
  const savedNotes = new Map<string, { node: HTMLElement; memories: SavedMemory[] }>();

  const previews = createPreviews((node) => flow.append(node));

  function note(text: string, attributes: Record<string, string> = {}): HTMLElement {
    return element("p", { class: "event-note", ...attributes }, text);
  }

  function ofCall(id: string, change: (call: ToolCallView) => void): undefined {
    const call = toolCalls.get(id);
    if (call) change(call);
    else outcomes.set(id, [...(outcomes.get(id) ?? []), change]);
  }

  /** What an event adds, as it is known later; nothing where it only changes what others have added. */
  function nodeOf(event: SessionEvent): HTMLElement | undefined {
    switch (event.kind) {
      case "agent-message": {
        const view = createMessageView("agent", event.id);
        view.setBlocks(event.blocks);
        return view.node;
      }
      case "tool-use": {
        const view = createToolCall(event, roots, decide);
        toolCalls.set(event.id, view);
        for (const change of outcomes.get(event.id) ?? []) change(view);
        outcomes.delete(event.id);
        return view.node;
      }
      case "tool-verdict":
        return ofCall(event.toolUseId, (call) => call.setVerdict(event.allowed));
      case "tool-result":
        return ofCall(event.toolUseId, (call) => call.setResult(event.text, event.failed));
      case "idle":
        if (QUIET_REASONS.includes(event.reason)) return undefined;
        return note(`Stopped: ${event.reason.replaceAll("_", " ")}`);
      case "error": {
        const retry = event.retry === "retrying" ? " — trying again" : "";
        return note(event.message + retry, { "data-testid": "error", class: "event-note bad" });
      }
      case "rescheduled":
        return note("Goes on in a moment");
      case "deleted":
        return note("This session was deleted");
      case "memory-recalled":
        return note(`Recalled ${event.paths.join(", ")}`, { "data-testid": "memory-recalled" });
      case "compacted":
        return note(
          `Shortened for the model, from ${event.before} tokens to ${event.after}. All of it stays here`,
          { "data-testid": "compacted" },
        );
      case "notes-updated":
        return note("Noted for later in this session");
      case "other":
        return note([WORDS[event.type] ?? event.type, event.detail].filter(Boolean).join(": "));
      case "memory-saved":
      case "user-message":
      case "request-end":
      case "joined":
      case "running":
      case "silent":
        return undefined;
    }
  }

  /** What one turn saves is one line, behind the last of it; here in front of what is drawn or after. */
  function savedNote(turnId: string, memories: SavedMemory[], isNew: boolean) {
    const known = savedNotes.get(turnId);
    const attributes = { "data-testid": "memory-saved", class: "event-note saved" };
    const saved = known ?? { node: note("", attributes), memories: [] };
    saved.memories = isNew ? [...saved.memories, ...memories] : [...memories, ...saved.memories];
    saved.node.textContent = savedLine(saved.memories);
    if (turnId !== "") savedNotes.set(turnId, saved);
    return isNew || !known ? saved.node : undefined;
  }

  function draw(event: SessionEvent): void {
    if (event.kind === "agent-message" && previews.finish(event.id, event.blocks)) return;
    if (event.kind === "request-end" || event.kind === "idle") previews.dropAll();
    const node =
      event.kind === "memory-saved" ? savedNote(event.turnId, event.memories, true) : nodeOf(event);
    if (node) flow.append(node);
  }

  function userView(id: string, blocks: string[], waits: boolean): MessageView {
    const view = createMessageView("user", id);
    view.setBlocks(blocks);
    if (waits) {
      view.node.dataset.state = "waiting";
      view.setNote("Waiting");
    }
    messages.set(id, view);
    return view;
  }

  /** A message that waits no more. */
  function released(id: string): HTMLElement | undefined {
    const view = messages.get(id);
    if (!view) return undefined;
    delete view.node.dataset.state;
    view.setNote("");
    return view.node;
  }

  return {
    draw: (event: SessionEvent) => keepAtEnd(() => draw(event)),
    preview: (preview: Preview) => keepAtEnd(() => previews.apply(preview)),
    freezePreviews: previews.freeze,
    /** A stored user message; one that waits stands below the conversation until `release`. */
    addUser(id: string, blocks: string[], waits: boolean): void {
      const view = userView(id, blocks, waits);
      keepAtEnd(() => (waits ? waiting : flow).append(view.node));
    },
    release(id: string): void {
      const node = released(id);
      if (node) keepAtEnd(() => flow.append(node));
    },
    /** Events from before all that are drawn, oldest first; `order` is that of the events drawn so far. */
    prepend(events: readonly SessionEvent[], order: TurnOrder): void {
      const nodes: HTMLElement[] = [];
      const add = (node: HTMLElement | undefined) => void (node && nodes.push(node));
      const own = createTurnOrder((id) => add(released(id)), stateBefore(events) ?? "running");
      for (const event of events) {
        own.take(event);
        if (event.kind === "memory-saved") add(savedNote(event.turnId, event.memories, false));
        else if (event.kind !== "user-message") add(nodeOf(event));
        else {
          const waits = own.message(event.id);
          const { node } = userView(event.id, event.blocks, waits);
          if (!waits) add(node);
        }
      }
      order.follow(own);
      flow.prepend(...nodes);
      waiting.prepend(...own.waiting().flatMap((id) => messages.get(id)?.node ?? []));
    },
    /** A message that is not stored yet. */
    addUnsent(view: MessageView): void {
      waiting.append(view.node);
      view.node.scrollIntoView({ block: "end" });
    },
    setBusy: (busy: boolean) => scroller.setAttribute("aria-busy", String(busy)),
    /** Forgets what is stored; messages that are still being sent stay. */
    clear(): void {
      previews.dropAll();
      toolCalls.clear();
      outcomes.clear();
      savedNotes.clear();
      for (const view of messages.values()) view.node.remove();
      messages.clear();
      flow.replaceChildren();
    },
  };
}

export type Conversation = ReturnType<typeof createConversation>;
