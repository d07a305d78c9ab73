import type { Thread } from "../../../src/platform/threads/thread.ts";
import { spokenWords } from "./turns.ts";

/** The session's own conversation. Its turns are the session's (`turns.ts`). */
export function mainThread(sql: SqlStorage): Thread {
  return { sql, id: "main", number: 0, said: (event) => spokenWords(sql, { eventSeq: event }) };
}

/** The thread of a background fork, by the number of its run. It has one turn, the first. */
export function forkThread(sql: SqlStorage, run: number): Thread {
  return { sql, id: `fork-${run}`, number: run };
}

export const FORK_TURN = 1;
