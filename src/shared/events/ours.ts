// The types of ours that stand beside the official SDK's: its types do not know them, and a client
// that is made for the original passes them over.

import type { EventType } from "./event.ts";

export const OUR_EVENT_TYPES: ReadonlySet<EventType> = new Set<EventType>([
  "memory.recalled",
  "memory.saved",
  "memory.skipped",
  "session_memory.updated",
  "turn.joined",
]);
