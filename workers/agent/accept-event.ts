import type { StoredEvent } from "./events.ts";
import { appendEvent } from "./events.ts";
import type { ClientEvent } from "./requests.ts";
import { addTurn, changeTurn, currentTurn } from "./turns.ts";

/** Puts a client event into the log and does what it asks for. Within a transaction. */
export function acceptEvent(sql: SqlStorage, event: ClientEvent, now: number): StoredEvent {
  const stored = appendEvent(sql, { ...event }, now);
  switch (event.type) {
    case "user.message":
      addTurn(sql, stored.id, JSON.stringify(event.content));
      break;
    case "user.interrupt": {
      const turn = currentTurn(sql);
      if (turn?.status === "running") changeTurn(sql, turn.n, { interrupted: true });
      break;
    }
  }
  return stored;
}
