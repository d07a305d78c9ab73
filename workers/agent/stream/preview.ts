import { newId } from "../../../src/platform/ids.ts";
import type { ModelEvent } from "../../../src/shared/loop/model.ts";

/** A frame that is sent to whoever listens and never stored. */
export interface PreviewFrame {
  /** The event that it previews; a stream asks for previews by this type. */
  of: "agent.message" | "agent.thinking";
  type: "event_start" | "event_delta";
  /** Id of the event to come. */
  id: string;
  body: Record<string, unknown>;
}

export interface Preview {
  /** The frames for something that the model says. */
  frames(event: ModelEvent): PreviewFrame[];
  /** The id that was announced for the message of this answer, if one was. */
  messageId(): string | undefined;
  thinkingId(): string | undefined;
}

/** Previews of one answer: its events are announced under the ids that they will be stored with. */
export function createPreview(): Preview {
  let messageId: string | undefined;
  let thinkingId: string | undefined;
  const texts: number[] = [];
  /** White space with which a block begins: it waits for more, since alone it is not stored. */
  const held = new Map<number, string>();

  function frames(event: ModelEvent): PreviewFrame[] {
    if (event.type === "thinking_start" && thinkingId === undefined) {
      thinkingId = newId("sevt");
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
      messageId = newId("sevt");
      opening.push(start("agent.message", messageId));
    }
    if (!texts.includes(block)) texts.push(block);
    const content = { type: "text", text };
    const delta = { type: "content_delta", index: texts.indexOf(block), content };
    const body = { type: "event_delta", event_id: messageId, delta };
    return [...opening, { ...DELTA, id: messageId, body }];
  }

  return { frames, messageId: () => messageId, thinkingId: () => thinkingId };
}

const DELTA = { of: "agent.message", type: "event_delta" } as const;

function start(of: PreviewFrame["of"], id: string): PreviewFrame {
  return { of, type: "event_start", id, body: { type: "event_start", event: { id, type: of } } };
}
