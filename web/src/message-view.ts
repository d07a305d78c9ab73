import { element } from "./element.ts";

export type MessageView = {
  node: HTMLElement;
  setBlocks: (blocks: string[]) => void;
  appendText: (index: number, text: string) => void;
  setNote: (note: string, ...actions: Node[]) => void;
};

/** A wrong block number must not make the page build blocks without end. */
const MAX_BLOCKS = 100;

/** One bubble. Text stays text: line breaks and spaces are kept, no markup is interpreted. */
export function createMessageView(role: "user" | "agent", id = ""): MessageView {
  const body = element("div", { class: "blocks" });
  const note = element("div", { class: "note" });
  const node = element(
    "article",
    { class: "message", "data-testid": "message", "data-role": role, "data-event-id": id },
    element("span", { class: "unseen" }, role === "user" ? "You:" : "Agent:"),
    body,
    note,
  );

  function textAt(index: number): Text {
    while (body.children.length <= index) body.append(element("div", { class: "text" }, ""));
    const block = body.children[index];
    const first = block?.firstChild;
    if (first instanceof Text) return first;
    const text = new Text();
    block?.append(text);
    return text;
  }

  return {
    node,
    setBlocks(blocks) {
      body.replaceChildren(...blocks.map((text) => element("div", { class: "text" }, text)));
    },
    appendText(index, text) {
      textAt(Math.min(index, MAX_BLOCKS)).appendData(text);
    },
    setNote(text, ...actions) {
      note.replaceChildren(text, ...actions);
    },
  };
}
