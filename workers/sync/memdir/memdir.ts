// One memory directory: a Durable Object that is the only writer of its part of the bucket.
//
// Its calls that change something run one after the other. What it acknowledges is on disk here, and
// in R2 or in the outbox on its way there. When it wakes, it finishes what a crash cut off.

import { DurableObject } from "cloudflare:workers";
import { errorName, log } from "../../../src/platform/log.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import type * as Rpc from "../../../src/platform/objects/memdir-rpc.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { replyWith } from "../../../src/platform/objects/reply.ts";
import { clearPrefix } from "../../../src/platform/r2/clear-prefix.ts";
import { storeFiles } from "../../../src/platform/r2/mount-table.ts";
import { createSecretScan } from "../../../src/platform/secrets/secret-scan.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { CHANGES_WAIT_MS, OUTBOX_MS } from "../../../src/shared/limits/memory.ts";
import type { SyncEnv } from "../../env.ts";
import { recover } from "./apply.ts";
import { createChangeFeed } from "./change-feed.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { headAt, headById, listHeads, publicHead, scanHeads } from "./heads.ts";
import { redact, restore, rewind } from "./history.ts";
import { bytesOf, importChanges } from "./import.ts";
import * as leases from "./leases.ts";
import { patchedMeta, readStoreMeta, writeStoreMeta } from "./meta.ts";
import { emptyOutbox } from "./outbox.ts";
import { reconcile } from "./reconcile.ts";
import { createSchema, hasSchema } from "./schema.ts";
import { createSerialQueue } from "./serial-queue.ts";
import { findVersions, receiptBy, versionById, versionsAfter } from "./versions.ts";
import { remove, update, write } from "./write.ts";

export class Memdir extends DurableObject<SyncEnv> implements Rpc.MemdirStub {
  readonly #sql = this.ctx.storage.sql;
  readonly #scan = createSecretScan();
  readonly #feed = createChangeFeed();
  readonly #inTurn = createSerialQueue();
  #recovered = false;
  #gone = false;

  constructor(ctx: DurableObjectState, env: SyncEnv) {
    super(ctx, env);
    if (hasSchema(this.#sql)) createSchema(this.#sql);
  }

  async open(meta: Rpc.StoreMeta): Promise<Reply<Rpc.StoreMeta>> {
    return replyWith(async () => {
      if (!hasSchema(this.#sql)) {
        // A store that somebody deleted a moment ago may come anew.
        this.#gone = false;
        this.ctx.storage.transactionSync(() => {
          createSchema(this.#sql);
          writeStoreMeta(this.#sql, meta, false);
        });
      }
      const { meta: known, listed } = readStoreMeta(this.#sql);
      // A repository's store is in no user's account.
      if (!listed && known.owner.type === "user") {
        const row = {
          id: known.id,
          kind: known.kind,
          createdAt: known.createdAt,
          archived: known.archivedAt !== null,
        };
        await accountStub(this.env, known.owner).addStore(row);
        writeStoreMeta(this.#sql, readStoreMeta(this.#sql).meta, true);
      }
      return known;
    });
  }

  async meta(): Promise<Reply<Rpc.StoreMeta>> {
    return replyWith(() => this.#meta());
  }

  async updateMeta(patch: Rpc.MetaPatch): Promise<Reply<Rpc.StoreMeta>> {
    // One step from read to write: two patches at once both hold.
    return replyWith(() => this.#store(patchedMeta(this.#meta(), patch, Date.now())));
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
    return this.#changing(async (dir) => {
      // R2 first: where this dies half way the object is still there to be destroyed again.
      await clearPrefix(this.env.FILES, dir.meta.prefix);
      this.#gone = true;
      await this.ctx.storage.deleteAlarm();
      await this.ctx.storage.deleteAll();
      this.#feed.announce();
      return null;
    });
  }

  async read(path: string, reader?: Rpc.Actor): Promise<Reply<Rpc.MemoryRead | null>> {
    return this.#reading((dir) => {
      const head = headAt(this.#sql, path);
      const found = withBytes(dir, head);
      if (!head || !found || !reader) return found;
      return { ...found, receipt: receiptBy(this.#sql, head.n, reader) };
    });
  }

  async readById(id: string): Promise<Reply<Rpc.MemoryRead | null>> {
    return this.#reading((dir) => withBytes(dir, headById(this.#sql, id)));
  }

  async head(path: string): Promise<Reply<Rpc.MemoryHead | null>> {
    return this.#reading(() => {
      const head = headAt(this.#sql, path);
      return head ? publicHead(head) : null;
    });
  }

  async list(
    query: Rpc.ListHeads,
  ): Promise<Reply<{ heads: Rpc.MemoryHead[]; next: string | null }>> {
    return this.#reading(() => {
      const found = listHeads(this.#sql, { ...query, limit: query.limit + 1 });
      const heads = found.slice(0, query.limit).map(publicHead);
      return { heads, next: found.length > query.limit ? (heads.at(-1)?.path ?? null) : null };
    });
  }

  async scan(limit: number): Promise<Reply<Rpc.ScannedMemory[]>> {
    return this.#reading(() => scanHeads(this.#sql, limit));
  }

  async write(request: Rpc.WriteRequest): Promise<Reply<Rpc.WriteReply>> {
    return this.#changing((dir) => write(dir, request));
  }

  async update(request: Rpc.UpdateRequest): Promise<Reply<Rpc.WriteReply>> {
    return this.#changing((dir) => update(dir, request));
  }

  async remove(request: Rpc.RemoveRequest): Promise<Reply<Rpc.RemoveReply>> {
    return this.#changing((dir) => remove(dir, request));
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
        await this.#feed.next(end - Date.now());
        this.#meta();
        found = versionsAfter(this.#sql, after, limit);
      }
      return found;
    });
  }

  async redact(versionId: string, actor: Rpc.Actor): Promise<Reply<Rpc.Version | null>> {
    return this.#changing(async (dir) => redact(dir, versionId, actor) ?? null);
  }

  async restore(versionId: string, change: Rpc.Change): Promise<Reply<Rpc.WriteReply>> {
    return this.#changing((dir) => restore(dir, versionId, change));
  }

  async rewind(
    to: { time: number } | { sessionId: string },
    change: Rpc.Change,
  ): Promise<Reply<Rpc.RewindReply>> {
    return this.#changing((dir) => rewind(dir, to, change));
  }

  async importChanges(): Promise<Reply<Receipt[]>> {
    return this.#changing((dir) => importChanges(dir));
  }

  async reconcile(actor: Rpc.Actor): Promise<Reply<Receipt[]>> {
    return this.#changing((dir) => reconcile(dir, actor));
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
    await this.#changing(async (dir) => {
      if (!(await emptyOutbox(dir))) dir.later();
      return null;
    }).catch((error: unknown) => {
      log("memdir.alarm_failed", { error: errorName(error) });
      this.#later();
    });
  }

  /** Runs what changes something: alone, after what others asked before. */
  #changing<T>(work: (dir: Directory) => Promise<T>): Promise<Reply<T>> {
    return this.#inTurn(() =>
      replyWith(async () => {
        const dir = this.#directory();
        if (!this.#recovered) await recover(dir);
        this.#recovered = true;
        return work(dir);
      }),
    );
  }

  /** Answers from the rows; after recovery, so that nobody ever reads what is half done. */
  #reading<T>(work: (dir: Directory) => T): Promise<Reply<T>> {
    if (this.#recovered) return replyWith(() => work(this.#directory()));
    return this.#changing(async (dir) => work(dir));
  }

  #directory(): Directory {
    const meta = this.#meta();
    return {
      sql: this.#sql,
      files: storeFiles(this.env.FILES, meta.prefix),
      meta,
      scan: this.#scan,
      now: () => Date.now(),
      commit: (write) => {
        const result = this.ctx.storage.transactionSync(write);
        this.#feed.announce();
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
}

function withBytes(dir: Directory, head: Head | undefined): Rpc.MemoryRead | null {
  return head ? { ...publicHead(head), bytes: bytesOf(dir, head) } : null;
}
