// What a session tells of its extractions.

import type Anthropic from "@anthropic-ai/sdk";
import { eventsUntil, type SessionEvent, stored } from "./service.ts";

export type Told = SessionEvent & { by?: string; reason?: string };

export function reasonOf(event: Told): string | undefined {
  return (event.type as string) === "memory.saved" ? "saved" : event.reason;
}

/** The outcomes of extractions among these events. */
export function outcomesIn(events: readonly SessionEvent[]): Told[] {
  return events.filter(
    (event: Told) =>
      ["memory.saved", "memory.skipped"].includes(event.type) && event.by === "extraction",
  );
}

/** The outcomes so far. */
export async function toldOf(client: Anthropic, id: string): Promise<Told[]> {
  return outcomesIn(await stored(client, id));
}

/** The outcomes, as soon as there are so many. */
export async function outcomesOf(
  client: Anthropic,
  id: string,
  count: number,
  ms?: number,
): Promise<Told[]> {
  const holds = (events: readonly SessionEvent[]) => outcomesIn(events).length >= count;
  return outcomesIn(await eventsUntil(client, id, `${count} extractions`, holds, ms));
}
