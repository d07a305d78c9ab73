import type { SessionEvent } from "./event.ts";

export type TurnState = "idle" | "due" | "running" | "blocked";

export type TurnOrder = {
  state: () => TurnState;
  /** The messages that wait, oldest first. */
  waiting: () => readonly string[];
  /** The messages whose turns have begun. */
  begun: () => ReadonlySet<string>;
  /** A stored user message; true if it has to wait. */
  message: (id: string) => boolean;
  /** Any other event. */
  take: (event: SessionEvent) => void;
  /** Something of this message's turn has come: it, and what was sent before it, waits no more. */
  turn: (id: string) => void;
  /** Takes over how earlier events ended: what waited there has had its turn since, or waits here. */
  follow: (earlier: TurnOrder) => void;
};

/** Shows what waits in place: the message with this id has its turn now. */
type Release = (id: string) => void;

/**
 * Tells which user messages still wait for their turn. The service runs them one at a time and names
 * the message whose turn an event belongs to.
 */
export function createTurnOrder(release: Release, before: TurnState = "idle"): TurnOrder {
  let state: TurnState = before;
  let waiting: string[] = [];
  const begun = new Set<string>();

  function turn(id: string): void {
    begun.add(id);
    const place = waiting.indexOf(id);
    for (const one of waiting.slice(0, place + 1)) release(one);
    waiting = waiting.slice(place + 1);
  }

  return {
    state: () => state,
    waiting: () => waiting,
    begun: () => begun,
    message(id) {
      if (state === "idle" && waiting.length === 0) {
        state = "due";
        return false;
      }
      waiting.push(id);
      return true;
    },
    take(event) {
      if (event.turnId !== "") turn(event.turnId);
      if (event.kind === "joined") turn(event.messageId);
      if (event.kind === "running") state = "running";
      if (event.kind === "idle") state = event.reason === "requires_action" ? "blocked" : "idle";
    },
    turn,
    follow(earlier) {
      const last = earlier.waiting().findLast((id) => begun.has(id));
      if (last !== undefined) earlier.turn(last);
      waiting = [...earlier.waiting(), ...waiting];
      for (const id of earlier.begun()) begun.add(id);
    },
  };
}
