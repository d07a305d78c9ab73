import * as z from "zod";
import type {
  Actor,
  Operation,
  Version,
  VersionQuery,
} from "../../../src/platform/objects/memdir-rpc.ts";
import { conditions } from "../../../src/platform/sql.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { operation } from "../../../src/shared/files/receipt.ts";

/** Who made a change, as it is on disk. */
export const actorSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("session"),
    sessionId: z.string(),
    by: z.enum(["agent", "extraction", "subagent", "dream"]),
  }),
  z.object({ type: z.literal("user"), userId: z.string() }),
  z.object({ type: z.literal("external") }),
]);

type Row = {
  n: number;
  id: string;
  memory_id: string;
  operation: string;
  path: string | null;
  sha256: string | null;
  size: number | null;
  actor: string;
  at: number;
  redacted_at: number | null;
  redacted_by: string | null;
};

const COLUMNS =
  "n, id, memory_id, operation, path, sha256, size, actor, at, redacted_at, redacted_by";

interface NewVersion {
  id: string;
  memoryId: string;
  operation: Operation;
  path: string;
  /** A path at which nothing is any more: that of a deletion, or the one before a rename. */
  gone?: string | undefined;
  /** Absent for a deletion; `n` is its row's number. */
  content?: { n: number; sha256: string; bytes: Uint8Array } | undefined;
  actor: Actor;
  at: number;
}

/** Appends a version; gives back its number. A clock that was set back does not make it older. */
export function addVersion(sql: SqlStorage, version: NewVersion): number {
  const { content, actor: by } = version;
  return sql
    .exec<{ n: number }>(
      `INSERT INTO versions
         (id, memory_id, operation, path, gone, content, sha256, size, actor, session_id, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
         max(?, coalesce((SELECT at FROM versions ORDER BY n DESC LIMIT 1), 0))) RETURNING n`,
      version.id,
      version.memoryId,
      version.operation,
      version.path,
      version.gone ?? null,
      content?.n ?? null,
      content?.sha256 ?? null,
      content?.bytes.length ?? null,
      JSON.stringify(by),
      by.type === "session" ? by.sessionId : null,
      version.at,
    )
    .one().n;
}

/** The number that the next version gets. */
export function nextVersion(sql: SqlStorage): number {
  return sql.exec<{ n: number }>("SELECT coalesce(max(n), 0) + 1 AS n FROM versions").one().n;
}

/** When a memory was first made; undefined for one that never was. */
export function firstTime(sql: SqlStorage, memoryId: string | undefined): number | undefined {
  if (memoryId === undefined) return undefined;
  const rows = sql.exec<{ at: number }>(
    "SELECT at FROM versions WHERE memory_id = ? ORDER BY n LIMIT 1",
    memoryId,
  );
  return rows.toArray()[0]?.at;
}

/** A version by its id, without content. */
export function versionById(sql: SqlStorage, id: string): Version | undefined {
  const [row] = sql.exec<Row>(`SELECT ${COLUMNS} FROM versions WHERE id = ?`, id).toArray();
  return row && versionOf(row);
}

/** The number of the last version that is not newer than a time; 0 where all are. */
export function lastVersionAt(sql: SqlStorage, time: number): number {
  const { most } = sql
    .exec<{ most: number }>("SELECT coalesce(max(n), 0) AS most FROM versions")
    .one();
  let older = 0;
  let newer = most + 1;
  while (newer - older > 1) {
    const middle = Math.floor((older + newer) / 2);
    const { at } = sql
      .exec<{ at: number }>("SELECT at FROM versions WHERE n >= ? ORDER BY n LIMIT 1", middle)
      .one();
    if (at <= time) older = middle;
    else newer = middle;
  }
  return older;
}

/** Versions that match, newest first, without content. */
export function findVersions(sql: SqlStorage, query: VersionQuery): Version[] {
  const { where, values } = conditions([
    ["memory_id = ?", query.memoryId],
    ["operation = ?", query.operation],
    ["session_id = ?", query.sessionId],
    // Times never fall as numbers grow: a range of times is a range of rows.
    ["n > ?", query.from === undefined ? undefined : lastVersionAt(sql, query.from - 1)],
    ["n <= ?", query.to === undefined ? undefined : lastVersionAt(sql, query.to)],
    ["n < ?", query.before],
  ]);
  const rows = sql.exec<Row>(
    `SELECT ${COLUMNS} FROM versions WHERE ${where} ORDER BY n DESC LIMIT ?`,
    ...values,
    query.limit,
  );
  return [...rows].map(versionOf);
}

/** Versions after a number, oldest first, without content. */
export function versionsAfter(sql: SqlStorage, after: number, limit: number): Version[] {
  const rows = sql.exec<Row>(
    `SELECT ${COLUMNS} FROM versions WHERE n > ? ORDER BY n LIMIT ?`,
    after,
    limit,
  );
  return [...rows].map(versionOf);
}

/** What others than this actor changed after a version, oldest first, without content. */
export function othersAfter(sql: SqlStorage, after: number, own: Actor): LaterVersion[] {
  const rows = sql.exec<Row & { gone: string | null }>(
    `SELECT ${COLUMNS}, gone FROM versions WHERE n > ? ORDER BY n`,
    after,
  );
  return [...rows]
    .map((row) => ({ ...versionOf(row), gone: row.gone }))
    .filter(({ actor }) => !isSameActor(actor, own));
}

/** A version, and the path at which nothing is any more after it. */
export interface LaterVersion extends Version {
  gone: string | null;
}

/** The receipt of a version by its number; undefined where it is redacted. */
export function receiptOf(sql: SqlStorage, n: number): Receipt | undefined {
  const rows = sql.exec<Row>(`SELECT ${COLUMNS} FROM versions WHERE n = ?`, n);
  return [...rows].map(versionOf).map(asReceipt)[0];
}

/** The same where this very actor made it. */
export function receiptBy(sql: SqlStorage, n: number, by: Actor): Receipt | undefined {
  return ownReceipt(sql.exec<Row>(`SELECT ${COLUMNS} FROM versions WHERE n = ?`, n), by);
}

/** The number of a memory's last version, where this very actor made it after another version. */
export function lastMadeBy(
  sql: SqlStorage,
  memoryId: string,
  by: Actor,
  after: number,
): number | null {
  const [last] = sql
    .exec<{ n: number; actor: string }>(
      "SELECT n, actor FROM versions WHERE memory_id = ? ORDER BY n DESC LIMIT 1",
      memoryId,
    )
    .toArray();
  return last && last.n > after && isSameActor(actorOf(last.actor), by) ? last.n : null;
}

/**
 * The receipt of the last change at a path where nothing is, if it is a deletion by this very actor.
 * The last one of all: an earlier deletion answers an earlier request.
 */
export function deletionBy(sql: SqlStorage, path: string, by: Actor): Receipt | undefined {
  const receipt = ownReceipt(
    sql.exec<Row>(`SELECT ${COLUMNS} FROM versions WHERE gone = ? ORDER BY n DESC LIMIT 1`, path),
    by,
  );
  return receipt?.operation === "deleted" ? receipt : undefined;
}

function ownReceipt(rows: SqlStorageCursor<Row>, by: Actor): Receipt | undefined {
  const version = [...rows].map(versionOf)[0];
  return version && isSameActor(version.actor, by) ? asReceipt(version) : undefined;
}

function asReceipt({ path, operation, memoryId, id, n }: Version): Receipt | undefined {
  return path === null ? undefined : { path, operation, memoryId, versionId: id, n };
}

/** Nobody is the same as `external`, who may be anybody. */
function isSameActor(a: Actor, b: Actor): boolean {
  switch (a.type) {
    case "session":
      return b.type === "session" && a.sessionId === b.sessionId && a.by === b.by;
    case "user":
      return b.type === "user" && a.userId === b.userId;
    case "external":
      return false;
  }
}

/**
 * Takes path, size and hash out of a version for good, and out of all with the same content; who made
 * them and when stays.
 */
export function redactVersions(sql: SqlStorage, version: Version, by: Actor, at: number): void {
  const set = `UPDATE versions SET path = NULL, gone = NULL, content = NULL, sha256 = NULL, size = NULL,
    redacted_at = ?, redacted_by = ?`;
  const who = JSON.stringify(by);
  sql.exec(`${set} WHERE id = ? AND redacted_at IS NULL`, at, who, version.id);
  if (version.sha256 !== null) sql.exec(`${set} WHERE sha256 = ?`, at, who, version.sha256);
}

function versionOf(row: Row): Version {
  return {
    n: row.n,
    id: row.id,
    memoryId: row.memory_id,
    operation: operation.catch("modified").parse(row.operation),
    path: row.path,
    sha256: row.sha256,
    size: row.size,
    bytes: null,
    actor: actorOf(row.actor),
    at: row.at,
    redactedAt: row.redacted_at,
    redactedBy: row.redacted_by === null ? null : actorOf(row.redacted_by),
  };
}

/** The actor of a row. */
export function actorOf(text: string): Actor {
  return actorSchema.catch({ type: "external" }).parse(JSON.parse(text));
}
