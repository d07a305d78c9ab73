// One user's account: a Durable Object that lists sessions and memory stores. A session tells it what a
// list shows; what a store is like, only the store knows.

import { DurableObject } from "cloudflare:workers";
import { newId } from "../../../src/platform/ids.ts";
import type {
  AccountCalls,
  ListedRow,
  ListedSession,
  ListedState,
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
import { hasTable } from "../../../src/platform/sql.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { IDEMPOTENCY_MS } from "../../../src/shared/limits/http.ts";
import type { AgentEnv } from "../../env.ts";
import { refuseOtherBody } from "../rows/idempotency.ts";
import {
  abandonedSessions,
  addListed,
  changeListed,
  createSessionTables,
  listSessions,
  type Passing,
  removeListed,
} from "./account-sessions.ts";
import { addStore, createStoreTables, listStores } from "./account-stores.ts";
import { createUsageTable, reportUsage, tokensOn, usageTotals } from "./account-usage.ts";

export class Account extends DurableObject<AgentEnv> implements AccountCalls {
  readonly #sql = this.ctx.storage.sql;
  readonly #passing: Passing = new Map();

  constructor(ctx: DurableObjectState, env: AgentEnv) {
    super(ctx, env);
    if (hasTable(this.#sql, "usage")) return;
    ctx.storage.transactionSync(() => {
      createSessionTables(this.#sql);
      createStoreTables(this.#sql);
      createUsageTable(this.#sql);
    });
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
  ready(id: string, listed: ListedSession): void {
    this.ctx.storage.transactionSync(() => addListed(this.#sql, id, listed));
  }

  remove(id: string): void {
    this.#passing.delete(id);
    this.ctx.storage.transactionSync(() => removeListed(this.#sql, id));
  }

  list(query: PageQuery): ListedRow[] {
    return listSessions(this.#sql, query, this.#passing);
  }

  /** Creations that died on the way, for the caller to clear and remove. */
  abandoned(now: number): string[] {
    return abandonedSessions(this.#sql, now);
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

  /**
   * Takes a session's figures as they are now, and how it is; a report that comes late or twice
   * changes nothing.
   */
  reportUsage(sessionId: string, rows: UsageRow[], listed?: ListedState): void {
    const { passing = false } = listed ?? {};
    if (listed && passing) this.#passing.set(sessionId, listed);
    else this.#passing.delete(sessionId);
    this.ctx.storage.transactionSync(() => {
      if (rows.length > 0) reportUsage(this.#sql, sessionId, rows, Date.now());
      if (listed && !passing) changeListed(this.#sql, sessionId, listed);
    });
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
