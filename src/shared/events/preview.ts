// Frames that announce an event while the model still speaks. They are never stored and have no
// envelope; the stored event of the same id is what holds.

import * as z from "zod";
import { textBlock } from "./envelope.ts";

/** Events that have previews. */
export const previewedType = z.enum(["agent.message", "agent.thinking"]);

export type PreviewedType = z.infer<typeof previewedType>;

const eventStart = z.strictObject({
  type: z.literal("event_start"),
  event: z.strictObject({ id: z.string(), type: previewedType }),
});

const eventDelta = z.strictObject({
  type: z.literal("event_delta"),
  event_id: z.string(),
  delta: z.strictObject({
    type: z.literal("content_delta"),
    /** Which block of the stored message's content, counted from 0. */
    index: z.number(),
    content: textBlock,
  }),
});

export const eventPreview = z.discriminatedUnion("type", [eventStart, eventDelta]);

export type EventPreview = z.infer<typeof eventPreview>;
