import type { Run } from "../rows/runs.ts";
import { turnByNumber } from "../rows/turns.ts";

/** A background run as the API shows it: which turns it looked at, what it did, what was refused. */
export function runShape(sql: SqlStorage, run: Run): Record<string, unknown> {
  return {
    type: "extraction",
    first_turn_id: turnByNumber(sql, run.firstTurn).eventId,
    last_turn_id: turnByNumber(sql, run.lastTurn).eventId,
    started_at: iso(run.startedAt),
    ended_at: run.endedAt === undefined ? null : iso(run.endedAt),
    outcome: run.outcome ?? null,
    iterations: run.iterations,
    calls: run.log.calls,
    omitted_calls: run.log.omitted,
    saved: run.log.saved.map(({ path, operation, memoryId, versionId }) => ({
      path: `/${path}`,
      operation,
      memory_id: memoryId,
      memory_version_id: versionId,
    })),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
