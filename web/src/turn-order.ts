export type TurnState = "idle" | "due" | "running" | "blocked";

/** Shows what waits in place: the message with this id has its turn now. */
type Release = (id: string) => void;

/**
 * Tells which user messages still wait for their turn. The service runs them one at a time and names
 * the message whose turn an event belongs to.
 */
export function createTurnOrder(release: Release) {
  let state: TurnState = "idle";
  let waiting: string[] = [];

  return {
    state: () => state,
    waiting: () => waiting.length,
    /** A stored user message; true if it has to wait. */
    message(id: string): boolean {
      if (state === "idle" && waiting.length === 0) {
        state = "due";
        return false;
      }
      waiting.push(id);
      return true;
    },
    /** Something of this message's turn has come: it, and what was sent before it, waits no more. */
    turn(id: string): void {
      const place = waiting.indexOf(id);
      for (const one of waiting.slice(0, place + 1)) release(one);
      waiting = waiting.slice(place + 1);
    },
    running(): void {
      state = "running";
    },
    idle(reason: string): void {
      state = reason === "requires_action" ? "blocked" : "idle";
    },
  };
}
