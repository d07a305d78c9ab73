import type { Preview } from "./event.ts";
import { createMessageView, type MessageView } from "./message-view.ts";

/**
 * Messages on their way. A preview is never the truth: its stored message replaces it, the end of
 * its request drops it. After a lost connection it is frozen, because deltas were missed: only a
 * new start for the same id fills it again, from nothing.
 */
export function createPreviews(place: (node: HTMLElement) => void) {
  const open = new Map<string, { view: MessageView; frozen: boolean }>();

  function drop(id: string): void {
    open.get(id)?.view.node.remove();
    open.delete(id);
  }

  return {
    apply(preview: Preview): void {
      if (preview.kind === "delta") {
        const entry = open.get(preview.id);
        if (entry && !entry.frozen) entry.view.appendText(preview.index, preview.text);
        return;
      }
      if (preview.type !== "agent.message") return;
      const known = open.get(preview.id);
      const view = known?.view ?? createMessageView("agent", preview.id);
      view.setBlocks([]);
      view.node.dataset.preview = "open";
      view.node.setAttribute("aria-busy", "true");
      open.set(preview.id, { view, frozen: false });
      if (!known) place(view.node);
    },
    /** Turns the preview of this message into the message, in its place; undefined if there is none. */
    finish(id: string, blocks: string[]): HTMLElement | undefined {
      const entry = open.get(id);
      if (!entry) return undefined;
      open.delete(id);
      entry.view.setBlocks(blocks);
      entry.view.node.removeAttribute("aria-busy");
      delete entry.view.node.dataset.preview;
      return entry.view.node;
    },
    freeze(): void {
      for (const entry of open.values()) {
        entry.frozen = true;
        entry.view.node.dataset.preview = "frozen";
      }
    },
    dropAll(): void {
      for (const id of [...open.keys()]) drop(id);
    },
  };
}
