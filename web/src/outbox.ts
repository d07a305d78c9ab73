import { explain } from "./api.ts";
import type { Conversation } from "./conversation.ts";
import { button } from "./element.ts";
import { createMessageView, type MessageView } from "./message-view.ts";

/** Stores a text under a key and answers with its event id; the same key twice stores it once. */
type Send = (text: string, key: string) => Promise<string>;

type Entry = { text: string; view: MessageView; id: string };

/** Messages between the send button and the stream. The stream's own event ends an entry. */
export function createOutbox(conversation: Conversation, send: Send) {
  const entries = new Set<Entry>();
  const arrived = new Set<string>();

  function end(entry: Entry): void {
    entry.view.node.remove();
    entries.delete(entry);
  }

  async function attempt(entry: Entry, key: string): Promise<void> {
    entry.view.node.dataset.state = "sending";
    entry.view.setNote("Sending…");
    try {
      entry.id = await send(entry.text, key);
      entry.view.setNote("Sent");
      if (arrived.has(entry.id)) end(entry);
    } catch (error) {
      if (!entries.has(entry)) return;
      entry.view.node.dataset.state = "unsent";
      entry.view.setNote(
        `Not sent: ${explain(error)} `,
        button("Send again", () => void attempt(entry, key)),
        button("Discard", () => end(entry)),
      );
    }
  }

  return {
    add(text: string): void {
      const view = createMessageView("user");
      view.setBlocks([text]);
      const entry: Entry = { text, view, id: "" };
      entries.add(entry);
      conversation.addUnsent(view);
      void attempt(entry, crypto.randomUUID());
    },
    /** The stream brought this message: by its id, or by its text where the answer is still on its way. */
    arrive(id: string, text: string): void {
      arrived.add(id);
      const all = [...entries];
      const mine =
        all.find((entry) => entry.id === id) ??
        all.find((entry) => entry.id === "" && entry.text === text);
      if (mine) end(mine);
    },
    clear(): void {
      for (const entry of [...entries]) end(entry);
    },
  };
}
