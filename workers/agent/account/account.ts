// One user's account: a Durable Object that lists sessions and memory stores. What each is like, only
// it knows itself, so the two cannot disagree.

import { DurableObject } from "cloudflare:workers";
import { newId } from "../../../src/platform/ids.ts";
import type {
  AccountCalls,
  PageQuery,
  RequestKey,
  SessionRow,
  StoreQuery,
  StoreRow,
  UsageQuery,
  UsageRow,
  UsageTotal,
} from "../../../src/platform/objects/account-rpc.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { replyWith } from "../../../src/platform/objects/reply.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { IDEMPOTENCY_MS } from "../../../src/shared/limits/http.ts";
import type { AgentEnv } from "../../env.ts";
import { refuseOtherBody } from "../rows/idempotency.ts";
import { addStore, createStoreTables, listStores } from "./account-stores.ts";
import { createUsageTable, reportUsage, tokensOn, usageTotals } from "./account-usage.ts";
import { createdPage } from "./created-page.ts";

/** A creation that has not been confirmed for this long is taken to have died, in milliseconds. */
const CREATION_MS = 10 * 60 * 1000;

export class Account extends DurableObject<AgentEnv> implements AccountCalls {
  readonly #sql = this.ctx.storage.sql;

  constructor(ctx: DurableObjectState, env: AgentEnv) {
    super(ctx, env);
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS sessions (
         id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, ready INTEGER NOT NULL)`,
    );
    this.#sql.exec("CREATE INDEX IF NOT EXISTS sessions_by_time ON sessions (created_at, id)");
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS keys (
         key TEXT PRIMARY KEY, hash TEXT NOT NULL, session TEXT NOT NULL, created_at INTEGER NOT NULL)`,
    );
    createStoreTables(this.#sql);
    createUsageTable(this.#sql);
  }

  /**
   * The id of a session to be made. The same key with the same body gives the same id, so that a
   * request which died before its effect is finished by the next one. A key whose session was
   * deleted since is a `conflict`: it does not come back.
   */
  reserve(request: RequestKey | undefined, now: number): Promise<Reply<SessionRow>> {
    return replyWith(() =>
      this.ctx.storage.transactionSync(() => {
        this.#sql.exec("DELETE FROM keys WHERE created_at < ?", now - IDEMPOTENCY_MS);
        const row: SessionRow = { id: newId("sesn"), createdAt: now };
        if (request) {
          const earlier = this.#earlier(request);
          if (earlier) return earlier;
          this.#sql.exec(
            "INSERT INTO keys (key, hash, session, created_at) VALUES (?, ?, ?, ?)",
            request.key,
            request.hash,
            row.id,
            now,
          );
        }
        this.#sql.exec(
          "INSERT INTO sessions (id, created_at, ready) VALUES (?, ?, 0)",
          row.id,
          now,
        );
        return row;
      }),
    );
  }

  /** The session exists now: it is listed. */
  ready(id: string): void {
    this.#sql.exec("UPDATE sessions SET ready = 1 WHERE id = ?", id);
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM sessions WHERE id = ?", id);
  }

  list(query: PageQuery): SessionRow[] {
    const { clause, values } = createdPage("ready = 1", query);
    return this.#sql
      .exec<{ id: string; created_at: number }>(
        `SELECT id, created_at FROM sessions ${clause}`,
        ...values,
      )
      .toArray()
      .map(({ id, created_at }) => ({ id, createdAt: created_at }));
  }

  /** Creations that died on the way, for the caller to clear and remove. */
  abandoned(now: number): string[] {
    return this.#sql
      .exec<{ id: string }>(
        "SELECT id FROM sessions WHERE ready = 0 AND created_at < ? LIMIT 10",
        now - CREATION_MS,
      )
      .toArray()
      .map((row) => row.id);
  }

  /** Lists a store before it is made; the same key with the same body gives the same row. */
  addStore(row: StoreRow, request?: RequestKey): Promise<Reply<StoreRow>> {
    return replyWith(() =>
      this.ctx.storage.transactionSync(() => addStore(this.#sql, row, request)),
    );
  }

  removeStore(id: string): void {
    this.#sql.exec("DELETE FROM stores WHERE id = ?", id);
  }

  archiveStore(id: string): void {
    this.#sql.exec("UPDATE stores SET archived = 1 WHERE id = ?", id);
  }

  listStores(query: StoreQuery): StoreRow[] {
    return listStores(this.#sql, query);
  }

  /** Takes a session's figures as they are now; a report that comes late or twice changes nothing. */
  reportUsage(sessionId: string, rows: UsageRow[]): void {
    this.ctx.storage.transactionSync(() => reportUsage(this.#sql, sessionId, rows, Date.now()));
  }

  /** By purpose, then model. Sessions that were deleted count too. */
  usage(query: UsageQuery): UsageTotal[] {
    return usageTotals(this.#sql, query);
  }

  /** Tokens of a UTC day as the daily budget counts them: without what was read from the cache. */
  tokensOn(day: string): number {
    return tokensOn(this.#sql, day);
  }

  #earlier(request: RequestKey): SessionRow | undefined {
    const [row] = this.#sql
      .exec<{ hash: string; session: string; created_at: number; alive: number }>(
        `SELECT hash, session, keys.created_at AS created_at, sessions.id IS NOT NULL AS alive
         FROM keys LEFT JOIN sessions ON sessions.id = keys.session WHERE key = ?`,
        request.key,
      )
      .toArray();
    if (!row) return undefined;
    refuseOtherBody(request, row.hash);
    if (row.alive === 0) {
      throw new MemdirError(
        "conflict",
        "The session that this Idempotency-Key made was deleted. Use a new key for a new session",
      );
    }
    return { id: row.session, createdAt: row.created_at };
  }
}
