export type TurnState = "idle" | "due" | "running" | "blocked";

/** Shows what waits in place: the message with this id has its turn now. */
type Release = (id: string) => void;

/**
 * Tells which user messages still wait for their turn. The service runs them one at a time and says
 * so with idle and running; one that joined the running turn is let go by `settle`, when the session
 * stays idle.
 */
export function createTurnOrder(release: Release) {
  let state: TurnState = "idle";
  let waiting: string[] = [];

  function releaseFirst(): void {
    const id = waiting.shift();
    if (id !== undefined) release(id);
  }

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
    running(): void {
      if (state === "idle") releaseFirst();
      state = "running";
    },
    idle(reason: string): void {
      state = reason === "requires_action" ? "blocked" : "idle";
    },
    /** Nothing followed an idle: whatever waited was part of the turn that ended. */
    settle(): void {
      if (state !== "idle") return;
      for (const id of waiting) release(id);
      waiting = [];
    },
  };
}
