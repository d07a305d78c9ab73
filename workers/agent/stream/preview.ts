import type { EventPreview, PreviewedType } from "../../../src/shared/events/preview.ts";
import type { ModelEvent } from "../../../src/shared/loop/model.ts";

/** A frame for whoever listens; it is never stored. */
export interface PreviewFrame {
  /** The event that it previews; a subscription asks for previews by this type. */
  of: PreviewedType;
  /** Id of the event to come. */
  id: string;
  body: EventPreview;
}

export interface Preview {
  /** The frames for something that the model says. */
  frames(event: ModelEvent): PreviewFrame[];
  /** The announced id of this answer's message; undefined where none was announced. */
  messageId(): string | undefined;
  thinkingId(): string | undefined;
}

/** Previews of one answer: each event is announced under the id that it will be stored with. */
export function createPreview(newId: () => string): Preview {
  let messageId: string | undefined;
  let thinkingId: string | undefined;
  const texts: number[] = [];
  /** Leading white space of a block: it waits for more, since alone it is not stored. */
  const held = new Map<number, string>();

  function frames(event: ModelEvent): PreviewFrame[] {
    if (event.type === "thinking_start" && thinkingId === undefined) {
      thinkingId = newId();
      return [start("agent.thinking", thinkingId)];
    }
    if (event.type !== "text") return [];
    const { block } = event;
    const text = (held.get(block) ?? "") + event.text;
    if (!texts.includes(block) && text.trim() === "") {
      held.set(block, text);
      return [];
    }
    held.delete(block);
    const opening: PreviewFrame[] = [];
    if (messageId === undefined) {
      messageId = newId();
      opening.push(start("agent.message", messageId));
    }
    if (!texts.includes(block)) texts.push(block);
    return [...opening, delta(messageId, texts.indexOf(block), text)];
  }

  return { frames, messageId: () => messageId, thinkingId: () => thinkingId };
}

function start(of: PreviewedType, id: string): PreviewFrame {
  return { of, id, body: { type: "event_start", event: { id, type: of } } };
}

function delta(id: string, index: number, text: string): PreviewFrame {
  const content = { type: "text" as const, text };
  return {
    of: "agent.message",
    id,
    body: { type: "event_delta", event_id: id, delta: { type: "content_delta", index, content } },
  };
}
