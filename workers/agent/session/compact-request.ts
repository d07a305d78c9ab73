// A compaction that somebody asked for: at once where nothing runs, else at the running turn's next
// step. That it was asked for is on disk, so a crash does not forget it.

import { changeContext, readContext } from "../../../src/platform/threads/size.ts";
import type { CompactionPorts } from "../compaction/compaction.ts";
import { compactNow, sizeOf } from "../compaction/compaction.ts";
import { lastSeq, readEvents } from "../rows/events.ts";
import { readMeta } from "../rows/meta.ts";
import { currentTurn, lastTurn } from "../rows/turns.ts";
import { turnMemory } from "../setup/memory.ts";
import { limitsOf } from "../setup/model-ports.ts";
import { sessionMounts } from "../setup/session-mounts.ts";
import { sessionTools } from "../setup/session-tools.ts";
import { promptOf } from "../setup/system-prompt.ts";
import type { TurnPorts } from "../turn/turn-runner.ts";

/** Whether a compaction was asked for and no turn is there to do it. */
export function compactionDue(sql: SqlStorage): boolean {
  return readContext(sql).requested && currentTurn(sql) === undefined;
}

/** Compacts the conversation of a session whose turns have all ended. The request is settled by it. */
export async function compactIdle(
  ports: CompactionPorts & Pick<TurnPorts, "env">,
  signal: AbortSignal,
): Promise<void> {
  const { sql } = ports;
  try {
    const turn = lastTurn(sql);
    if (!turn) return;
    const meta = readMeta(sql);
    const memory = turnMemory(ports.env, meta, meta.id, meta.memory);
    const env = { mounts: sessionMounts(ports, meta, memory), seen: new Map() };
    const tools = sessionTools(env, meta);
    const of = { meta, memory, system: await promptOf(ports, meta, memory), tools, turn };
    const tokens = await sizeOf(ports, of, limitsOf(ports.settings, meta.model).room, signal);
    await compactNow(ports, of, "manual", tokens, signal);
  } finally {
    ports.commit(() => changeContext(sql, { requested: false }));
  }
}

/** By the type of the event that came of it. */
const STATUS: Record<string, string> = {
  "session.error": "failed",
  "user.interrupt": "interrupted",
};

/** What came of a request, by the events behind a number. */
export function compactionReply(sql: SqlStorage, after: number): Record<string, unknown> {
  if (readContext(sql).requested) return { type: "session_compaction", status: "queued" };
  const [event] = readEvents(sql, {
    after,
    limit: 1,
    types: ["agent.thread_context_compacted", "session.error", "user.interrupt"],
  });
  if (!event) return { type: "session_compaction", status: "nothing_to_compact" };
  const status = STATUS[event.type] ?? "compacted";
  return { type: "session_compaction", status, event: JSON.parse(event.json) };
}

/** Notes that somebody asked for a compaction; gives the number behind which its event will stand. */
export function requestCompaction(sql: SqlStorage): number {
  changeContext(sql, { requested: true });
  return lastSeq(sql);
}
