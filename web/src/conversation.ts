import { element } from "./element.ts";
import type { Preview, SavedMemory, SessionEvent } from "./event.ts";
import { createMessageView, type MessageView } from "./message-view.ts";
import type { Roots } from "./paths.ts";
import { createPreviews } from "./previews.ts";
import { savedLine } from "./saved-memory.ts";
import { createToolCall, type Decide, type ToolCallView } from "./tool-call.ts";

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
  const messages = new Map<string, MessageView>();
  const savedNotes = new Map<string, { node: HTMLElement; memories: SavedMemory[] }>();

  const previews = createPreviews((node) => flow.append(node));

  function addNote(text: string, attributes: Record<string, string> = {}): void {
    flow.append(element("p", { class: "event-note", ...attributes }, text));
  }

  /** What one turn saves is one line, behind the last of it. */
  function addSaved(turnId: string, memories: SavedMemory[]): void {
    const attributes = { class: "event-note saved", "data-testid": "memory-saved" };
    const note = savedNotes.get(turnId) ?? { node: element("p", attributes), memories: [] };
    note.memories.push(...memories);
    note.node.textContent = savedLine(note.memories);
    if (turnId !== "") savedNotes.set(turnId, note);
    flow.append(note.node);
  }

  function draw(event: SessionEvent): void {
    switch (event.kind) {
      case "agent-message": {
        const done = previews.finish(event.id, event.blocks);
        if (done) return;
        const view = createMessageView("agent", event.id);
        view.setBlocks(event.blocks);
        flow.append(view.node);
        return;
      }
      case "tool-use": {
        const view = createToolCall(event, roots, decide);
        toolCalls.set(event.id, view);
        flow.append(view.node);
        return;
      }
      case "tool-verdict":
        toolCalls.get(event.toolUseId)?.setVerdict(event.allowed);
        return;
      case "tool-result":
        toolCalls.get(event.toolUseId)?.setResult(event.text, event.failed);
        return;
      case "request-end":
      case "idle":
        previews.dropAll();
        if (event.kind === "idle" && !QUIET_REASONS.includes(event.reason)) {
          addNote(`Stopped: ${event.reason.replaceAll("_", " ")}`);
        }
        return;
      case "error": {
        const retry = event.retry === "retrying" ? " — trying again" : "";
        addNote(event.message + retry, { "data-testid": "error", class: "event-note bad" });
        return;
      }
      case "rescheduled":
        addNote("Goes on in a moment");
        return;
      case "deleted":
        addNote("This session was deleted");
        return;
      case "memory-saved":
        addSaved(event.turnId, event.memories);
        return;
      case "memory-recalled":
        addNote(`Recalled ${event.paths.join(", ")}`, { "data-testid": "memory-recalled" });
        return;
      case "compacted":
        addNote(
          `Shortened for the model, from ${event.before} tokens to ${event.after}. All of it stays here`,
          { "data-testid": "compacted" },
        );
        return;
      case "notes-updated":
        addNote("Noted for later in this session");
        return;
      case "other":
        addNote([WORDS[event.type] ?? event.type, event.detail].filter(Boolean).join(": "));
        return;
      case "user-message":
      case "joined":
      case "running":
      case "silent":
        return;
    }
  }

  return {
    draw: (event: SessionEvent) => keepAtEnd(() => draw(event)),
    preview: (preview: Preview) => keepAtEnd(() => previews.apply(preview)),
    freezePreviews: previews.freeze,
    /** A stored user message; one that waits stands below the conversation until `release`. */
    addUser(id: string, blocks: string[], waits: boolean): void {
      const view = createMessageView("user", id);
      view.setBlocks(blocks);
      if (waits) {
        view.node.dataset.state = "waiting";
        view.setNote("Waiting");
      }
      messages.set(id, view);
      keepAtEnd(() => (waits ? waiting : flow).append(view.node));
    },
    release(id: string): void {
      const view = messages.get(id);
      if (!view) return;
      delete view.node.dataset.state;
      view.setNote("");
      keepAtEnd(() => flow.append(view.node));
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
      savedNotes.clear();
      for (const view of messages.values()) view.node.remove();
      messages.clear();
      flow.replaceChildren();
    },
  };
}

export type Conversation = ReturnType<typeof createConversation>;
