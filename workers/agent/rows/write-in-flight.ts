// A background run's write that is on its way to the memory. A message of the user comes before it or
// after it, never beside it: the write looks for messages in the very step in which it leaves, and a turn
// begins when it has landed.

import { defineMemory } from "../../../src/platform/state.ts";

const flying = defineMemory<Promise<unknown>>();

/** Sends a write off; there is at most one at a time, as a fork's writes come one after the other. */
export function sendWrite<T>(sql: SqlStorage, write: () => Promise<T>): Promise<T> {
  const sent = write();
  flying.set(sql, sent);
  return sent;
}

/** Waits for a write that has left; never throws. */
export async function writeLanded(sql: SqlStorage): Promise<void> {
  await flying.get(sql)?.catch(() => {});
}
