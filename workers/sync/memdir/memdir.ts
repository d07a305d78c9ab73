// One memory directory: a Durable Object that is the only writer of its part of the bucket.
//
// Its calls that change something run one after the other. What it acknowledges is on disk here, and
// in R2 or in the outbox on its way there. What was cut off is finished when the object wakes.

import { DurableObject } from "cloudflare:workers";
import { errorName, log } from "../../../src/platform/log.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import type * as Rpc from "../../../src/platform/objects/memdir-rpc.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { replyWith } from "../../../src/platform/objects/reply.ts";
import { createR2Files } from "../../../src/platform/r2/r2-files.ts";
import { createSecretScan } from "../../../src/platform/secrets/secret-scan.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { METADATA_PAIRS } from "../../../src/shared/limits/http.ts";
import { CHANGES_WAIT_MS, OUTBOX_MS } from "../../../src/shared/limits/memory.ts";
import type { SyncEnv } from "../../env.ts";
import { recover } from "./apply.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { headAt, headById, listHeads, scanHeads, told } from "./heads.ts";
import { redact, restore, rewind } from "./history.ts";
import { bytesOf, takeIn } from "./import.ts";
import * as leases from "./leases.ts";
import { readStoreMeta, writeStoreMeta } from "./meta.ts";
import { emptyOutbox } from "./outbox.ts";
import { reconcile } from "./reconcile.ts";
import { createSchema, hasSchema } from "./schema.ts";
import { findVersions, versionById, versionsAfter } from "./versions.ts";
import { remove, update, write } from "./write.ts";

export class Memdir extends DurableObject<SyncEnv> implements Rpc.MemdirStub {
  readonly #sql = this.ctx.storage.sql;
  readonly #scan = createSecretScan();
  readonly #waiting = new Set<() => void>();
  /** The end of the last call that changes something; the next one begins behind it. */
  #last: Promise<unknown> = Promise.resolve();
  #recovered = false;
  #gone = false;

  constructor(ctx: DurableObjectState, env: SyncEnv) {
    super(ctx, env);
    if (hasSchema(this.#sql)) createSchema(this.#sql);
  }

  async open(meta: Rpc.StoreMeta): Promise<Reply<Rpc.StoreMeta>> {
    return replyWith(async () => {
      if (!hasSchema(this.#sql)) {
        // Also a store that was deleted a moment ago may be made anew.
        this.#gone = false;
        this.ctx.storage.transactionSync(() => {
          createSchema(this.#sql);
          writeStoreMeta(this.#sql, meta, false);
        });
      }
      const { meta: known, listed } = readStoreMeta(this.#sql);
      if (!listed) {
        const row = {
          id: known.id,
          kind: known.kind,
          createdAt: known.createdAt,
          archived: known.archivedAt !== null,
        };
        await accountStub(this.env, known).addStore(row);
        writeStoreMeta(this.#sql, readStoreMeta(this.#sql).meta, true);
      }
      return known;
    });
  }

  async meta(): Promise<Reply<Rpc.StoreMeta>> {
    return replyWith(() => this.#meta());
  }

  async updateMeta(patch: Rpc.MetaPatch): Promise<Reply<Rpc.StoreMeta>> {
    return replyWith(() => {
      const meta = this.#meta();
      if (meta.archivedAt !== null) {
        throw new MemdirError(
          "invalid_request",
          "This memory store is archived: it can be read, not changed",
        );
      }
      // Merged here, in one step: two patches at once both hold.
      const merged = { ...meta.metadata, ...patch.metadata };
      const metadata = Object.fromEntries(
        Object.entries(merged).filter((pair): pair is [string, string] => pair[1] !== null),
      );
      const fixed = meta.kind === "custom" ? ["kind"] : ["kind", "project_root"];
      const own = Object.keys(metadata).filter((key) => !fixed.includes(key));
      if (own.length > METADATA_PAIRS) {
        throw new MemdirError(
          "invalid_request",
          `metadata: ${own.length} pairs after the change; a store may have ${METADATA_PAIRS}`,
        );
      }
      return this.#store({ ...meta, ...patch, metadata, updatedAt: Date.now() });
    });
  }

  async archive(): Promise<Reply<Rpc.StoreMeta>> {
    return replyWith(() => {
      const meta = this.#meta();
      const now = Date.now();
      return meta.archivedAt === null
        ? this.#store({ ...meta, archivedAt: now, updatedAt: now })
        : meta;
    });
  }

  async destroy(): Promise<Reply<null>> {
    return this.#inTurn(async (dir) => {
      // R2 first: where this dies half way the object is still there to be destroyed again.
      for (let more = true; more; ) {
        more = await this.#clearPage(dir.meta.prefix);
      }
      this.#gone = true;
      await this.ctx.storage.deleteAlarm();
      await this.ctx.storage.deleteAll();
      this.#wake();
      return null;
    });
  }

  /** Deletes up to 1,000 files in one call; true while there may be more. */
  async #clearPage(prefix: string): Promise<boolean> {
    const { objects } = await this.env.FILES.list({ prefix, limit: 1000 });
    if (objects.length > 0) await this.env.FILES.delete(objects.map((object) => object.key));
    return objects.length > 0;
  }

  async read(path: string): Promise<Reply<Rpc.MemoryRead | null>> {
    return this.#reading((dir) => withBytes(dir, headAt(this.#sql, path)));
  }

  async readById(id: string): Promise<Reply<Rpc.MemoryRead | null>> {
    return this.#reading((dir) => withBytes(dir, headById(this.#sql, id)));
  }

  async head(path: string): Promise<Reply<Rpc.MemoryHead | null>> {
    return this.#reading(() => {
      const head = headAt(this.#sql, path);
      return head ? told(head) : null;
    });
  }

  async list(
    query: Rpc.ListHeads,
  ): Promise<Reply<{ heads: Rpc.MemoryHead[]; next: string | null }>> {
    return this.#reading(() => {
      const found = listHeads(this.#sql, { ...query, limit: query.limit + 1 });
      const heads = found.slice(0, query.limit).map(told);
      return { heads, next: found.length > query.limit ? (heads.at(-1)?.path ?? null) : null };
    });
  }

  async scan(limit: number): Promise<Reply<Rpc.ScannedMemory[]>> {
    return this.#reading(() => scanHeads(this.#sql, limit));
  }

  async write(request: Rpc.WriteRequest): Promise<Reply<Rpc.WriteReply>> {
    return this.#inTurn((dir) => write(dir, request));
  }

  async update(request: Rpc.UpdateRequest): Promise<Reply<Rpc.WriteReply>> {
    return this.#inTurn((dir) => update(dir, request));
  }

  async remove(request: Rpc.RemoveRequest): Promise<Reply<Rpc.RemoveReply>> {
    return this.#inTurn((dir) => remove(dir, request));
  }

  async version(id: string): Promise<Reply<Rpc.Version | null>> {
    return this.#reading(() => versionById(this.#sql, id) ?? null);
  }

  async versions(query: Rpc.VersionQuery): Promise<Reply<Rpc.Version[]>> {
    return this.#reading(() => findVersions(this.#sql, query));
  }

  async changes(after: number, limit: number, waitMs: number): Promise<Reply<Rpc.Version[]>> {
    return replyWith(async () => {
      this.#meta();
      const end = Date.now() + Math.min(waitMs, CHANGES_WAIT_MS);
      let found = versionsAfter(this.#sql, after, limit);
      while (found.length === 0 && Date.now() < end) {
        await this.#news(end - Date.now());
        this.#meta();
        found = versionsAfter(this.#sql, after, limit);
      }
      return found;
    });
  }

  async redact(versionId: string, actor: Rpc.Actor): Promise<Reply<Rpc.Version | null>> {
    return this.#inTurn(async (dir) => redact(dir, versionId, actor) ?? null);
  }

  async restore(versionId: string, change: Rpc.Change): Promise<Reply<Rpc.WriteReply>> {
    return this.#inTurn((dir) => restore(dir, versionId, change));
  }

  async rewind(
    to: { time: number } | { sessionId: string },
    change: Rpc.Change,
  ): Promise<Reply<Rpc.RewindReply>> {
    return this.#inTurn((dir) => rewind(dir, to, change));
  }

  async takeIn(): Promise<Reply<Rpc.Receipt[]>> {
    return this.#inTurn((dir) => takeIn(dir));
  }

  async reconcile(actor: Rpc.Actor): Promise<Reply<Rpc.Receipt[]>> {
    return this.#inTurn((dir) => reconcile(dir, actor));
  }

  async acquire(
    name: Rpc.LeaseName,
    holder: string,
    ms: number,
    waiter?: string,
  ): Promise<Reply<Rpc.LeaseReply>> {
    return this.#reading((dir) => leases.acquire(dir, name, holder, ms, waiter));
  }

  async renew(name: Rpc.LeaseName, token: number, ms: number): Promise<Reply<Rpc.LeaseReply>> {
    return this.#reading((dir) => leases.renew(dir, name, token, ms));
  }

  async release(name: Rpc.LeaseName, token: number): Promise<Reply<string | null>> {
    return this.#reading((dir) => leases.release(dir, name, token));
  }

  override async alarm(): Promise<void> {
    if (!hasSchema(this.#sql)) return;
    await this.#inTurn(async (dir) => {
      if (!(await emptyOutbox(dir))) dir.later();
      return null;
    }).catch((error: unknown) => {
      log("memdir.alarm_failed", { error: errorName(error) });
      this.#later();
    });
  }

  /** Runs what changes something: alone, behind what was asked before. */
  #inTurn<T>(work: (dir: Directory) => Promise<T>): Promise<Reply<T>> {
    const turn = this.#last.then(() =>
      replyWith(async () => {
        const dir = this.#directory();
        if (!this.#recovered) await recover(dir);
        this.#recovered = true;
        return work(dir);
      }),
    );
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Answers from the rows; behind recovery, so that nothing half done is ever read. */
  #reading<T>(work: (dir: Directory) => T): Promise<Reply<T>> {
    if (this.#recovered) return replyWith(() => work(this.#directory()));
    return this.#inTurn(async (dir) => work(dir));
  }

  #directory(): Directory {
    const meta = this.#meta();
    return {
      sql: this.#sql,
      files: createR2Files(this.env.FILES, meta.prefix, atOnce),
      meta,
      scan: this.#scan,
      now: () => Date.now(),
      commit: (write) => {
        const result = this.ctx.storage.transactionSync(write);
        this.#wake();
        return result;
      },
      later: () => this.#later(),
    };
  }

  #meta(): Rpc.StoreMeta {
    if (this.#gone || !hasSchema(this.#sql)) {
      throw new MemdirError("not_found", "There is no such memory store");
    }
    return readStoreMeta(this.#sql).meta;
  }

  #store(meta: Rpc.StoreMeta): Rpc.StoreMeta {
    writeStoreMeta(this.#sql, meta, readStoreMeta(this.#sql).listed);
    return meta;
  }

  #later(): void {
    this.ctx.waitUntil(this.ctx.storage.setAlarm(Date.now() + OUTBOX_MS));
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #news(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
    });
  }
}

function withBytes(dir: Directory, head: Head | undefined): Rpc.MemoryRead | null {
  return head ? { ...told(head), bytes: bytesOf(dir, head) } : null;
}

/** In place of the pause before a second try: the caller has an outbox and does not wait. */
function atOnce(): Promise<void> {
  return Promise.reject(new MemdirError("unavailable", "The file storage does not take this now"));
}
