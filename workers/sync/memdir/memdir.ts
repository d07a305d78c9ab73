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
import { cutPage } from "../../../src/platform/page.ts";
import { clearPrefix } from "../../../src/platform/r2/clear-prefix.ts";
import { historyPrefix, storeFiles } from "../../../src/platform/r2/mount-table.ts";
import { createSecretScan } from "../../../src/platform/secrets/secret-scan.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { CHANGES_WAIT_MS, OUTBOX_MS } from "../../../src/shared/limits/memory.ts";
import type { SyncEnv } from "../../env.ts";
import { createAccess } from "./access.ts";
import { createChangeFeed } from "./change-feed.ts";
import { readHead, withContents } from "./contents.ts";
import { type Directory, type StoreSizes, sizesOf } from "./directory.ts";
import { headAt, headById, listHeads, publicHead, scanHeads } from "./heads.ts";
import { importChanges } from "./import.ts";
import { createLeases } from "./leases.ts";
import { lossesSince } from "./losses.ts";
import { patchedMeta, readStoreMeta, writeStoreMeta } from "./meta.ts";
import { reconcile } from "./reconcile.ts";
import { redact } from "./redact.ts";
import { restore } from "./restore.ts";
import { rewind } from "./rewind.ts";
import { createSchema, hasSchema } from "./schema.ts";
import { tellSessions } from "./tell-sessions.ts";
import { upkeep } from "./upkeep.ts";
import { findVersions, nextVersion, receiptBy, versionById, versionsAfter } from "./versions.ts";
import { remove, update, write } from "./write.ts";

export class Memdir extends DurableObject<SyncEnv> implements Rpc.MemdirStub {
  readonly #sql = this.ctx.storage.sql;
  readonly #scan = createSecretScan();
  readonly #feed = createChangeFeed();
  readonly #access = createAccess(() => this.#directory());
  readonly #leases = createLeases(this.#sql, () => Date.now());
  /** A test may give one store other sizes. */
  sizes: StoreSizes = sizesOf(this.env);
  /** The store that it holds, if it does: read once a wake. */
  #row = hasSchema(this.#sql) ? readStoreMeta(this.#sql) : undefined;
  /** Made anew when the store's description changes. */
  #dir: Directory | undefined;
  /** An alarm is set that has not run yet: another one later would put it off. */
  #due = false;

  async open(meta: Rpc.StoreMeta): Promise<Reply<Rpc.StoreMeta>> {
    return replyWith(async () => {
      // In its turn: a store that somebody is deleting right now comes anew.
      if (!this.#row) await this.#access.inTurn(() => this.#create(meta));
      const known = this.#meta();
      // A repository's store is in no user's account.
      if (!this.#row?.listed && known.owner.type === "user") {
        const { id, kind, createdAt, archivedAt } = known;
        const row = { id, kind, createdAt, archived: archivedAt !== null };
        await accountStub(this.env, known.owner).addStore(row);
        this.#store(this.#meta(), true);
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
    return this.#access.alone(async (dir) => {
      // R2 first: where this dies half way the object is still there to be destroyed again.
      await clearPrefix(this.env.FILES, dir.meta.prefix);
      await clearPrefix(this.env.FILES, historyPrefix(dir.meta.owner, dir.meta.id));
      this.#row = undefined;
      this.#leases.clear();
      await this.ctx.storage.deleteAlarm();
      this.#due = false;
      await this.ctx.storage.deleteAll();
      this.#feed.announce();
      return null;
    });
  }

  async read(path: string, reader?: Rpc.Actor): Promise<Reply<Rpc.MemoryRead | null>> {
    return this.#access.reading((dir) => {
      const head = headAt(this.#sql, path);
      const found = readHead(dir, head);
      if (!head || !found || !reader) return found;
      return { ...found, receipt: receiptBy(this.#sql, head.n, reader) };
    });
  }

  async readById(id: string): Promise<Reply<Rpc.MemoryRead | null>> {
    return this.#access.reading((dir) => readHead(dir, headById(this.#sql, id)));
  }

  async head(path: string): Promise<Reply<Rpc.MemoryHead | null>> {
    return this.#access.reading(() => {
      const head = headAt(this.#sql, path);
      return head ? publicHead(head) : null;
    });
  }

  async list(
    query: Rpc.ListHeads,
  ): Promise<Reply<{ heads: Rpc.MemoryHead[]; next: string | null }>> {
    return this.#access.reading(() => {
      const found = listHeads(this.#sql, { ...query, limit: query.limit + 1 });
      const { page, last } = cutPage(found, query.limit);
      return { heads: page.map(publicHead), next: last?.path ?? null };
    });
  }

  async scan(limit: number): Promise<Reply<Rpc.ScannedMemory[]>> {
    return this.#access.reading(() => scanHeads(this.#sql, limit));
  }

  async write(request: Rpc.WriteRequest): Promise<Reply<Rpc.WriteReply>> {
    return this.#access.changing((dir) => write(dir, request));
  }

  async update(request: Rpc.UpdateRequest): Promise<Reply<Rpc.WriteReply>> {
    return this.#access.changing((dir) => update(dir, request));
  }

  async remove(request: Rpc.RemoveRequest): Promise<Reply<Rpc.RemoveReply>> {
    return this.#access.changing((dir) => remove(dir, request));
  }

  async version(id: string, withContent = true): Promise<Reply<Rpc.Version | null>> {
    return this.#access.reading(async (dir) => {
      const version = versionById(this.#sql, id);
      if (!version || !withContent) return version ?? null;
      return (await withContents(dir, [version]))[0] ?? null;
    });
  }

  async versions(query: Rpc.VersionQuery): Promise<Reply<Rpc.Version[]>> {
    return this.#access.reading((dir) => {
      const found = findVersions(this.#sql, query);
      return query.withContent ? withContents(dir, found) : found;
    });
  }

  async changes(after: number, limit: number, waitMs: number): Promise<Reply<Rpc.Version[]>> {
    return replyWith(async () => {
      this.#meta();
      const end = Date.now() + Math.min(waitMs, CHANGES_WAIT_MS);
      this.#access.settle();
      let found = versionsAfter(this.#sql, after, limit);
      while (found.length === 0 && Date.now() < end) {
        await this.#feed.next(end - Date.now());
        this.#meta();
        found = versionsAfter(this.#sql, after, limit);
      }
      return found;
    });
  }

  async losses(after: Rpc.LossCursor | undefined): Promise<Reply<Rpc.Losses>> {
    return this.#access.reading(() => lossesSince(this.#sql, after));
  }

  async redact(versionId: string, actor: Rpc.Actor): Promise<Reply<Rpc.Version | null>> {
    return this.#access.changing(async (dir) => {
      const redacted = (await redact(dir, versionId, actor)) ?? null;
      if (redacted) this.ctx.waitUntil(tellSessions(this.env, dir.meta));
      return redacted;
    });
  }

  async restore(versionId: string, change: Rpc.Change): Promise<Reply<Rpc.WriteReply>> {
    return this.#access.changing((dir) => restore(dir, versionId, change));
  }

  async rewind(
    to: { time: number } | { sessionId: string },
    change: Rpc.Change,
  ): Promise<Reply<Rpc.RewindReply>> {
    return this.#access.changing((dir) => rewind(dir, to, change));
  }

  async importChanges(): Promise<Reply<Receipt[]>> {
    return this.#access.changing((dir) => importChanges(dir));
  }

  async reconcile(actor: Rpc.Actor): Promise<Reply<Receipt[]>> {
    return this.#access.changing((dir) => reconcile(dir, actor));
  }

  async acquire(
    name: Rpc.LeaseName,
    holder: string,
    ms: number,
    waiter?: string,
  ): Promise<Reply<Rpc.AcquireReply>> {
    return this.#access.reading(({ leases }) => {
      const reply = leases.acquire(name, holder, ms, waiter);
      return reply.status === "held" ? reply : { ...reply, at: nextVersion(this.#sql) - 1 };
    });
  }

  async renew(name: Rpc.LeaseName, token: number, ms: number): Promise<Reply<Rpc.LeaseReply>> {
    return this.#access.reading(({ leases }) => leases.renew(name, token, ms));
  }

  async release(name: Rpc.LeaseName, token: number): Promise<Reply<string | null>> {
    return this.#access.reading(({ leases }) => leases.release(name, token));
  }

  override async alarm(): Promise<void> {
    this.#due = false;
    if (!this.#row) return;
    await this.#access
      .alone(async (dir) => {
        if (!(await upkeep(dir))) dir.later();
      })
      .catch((error: unknown) => {
        log("memdir.alarm_failed", { error: errorName(error) });
        this.#later();
      });
  }

  #directory(): Directory {
    const meta = this.#meta();
    if (this.#dir?.meta === meta && this.#dir.sizes === this.sizes) return this.#dir;
    this.#dir = {
      sql: this.#sql,
      files: storeFiles(this.env.FILES, meta.prefix),
      spilled: storeFiles(this.env.FILES, historyPrefix(meta.owner, meta.id)),
      sizes: this.sizes,
      leases: this.#leases,
      meta,
      scan: this.#scan,
      now: () => Date.now(),
      commit: (write) => {
        const result = this.ctx.storage.transactionSync(write);
        this.#feed.announce();
        return result;
      },
      afterReply: this.#access.afterReply,
      later: () => this.#later(),
    };
    return this.#dir;
  }

  #meta(): Rpc.StoreMeta {
    if (!this.#row) throw new MemdirError("not_found", "There is no such memory store");
    return this.#row.meta;
  }

  #create(meta: Rpc.StoreMeta): void {
    if (this.#row) return;
    this.ctx.storage.transactionSync(() => {
      createSchema(this.#sql);
      writeStoreMeta(this.#sql, { meta, listed: false });
    });
    this.#row = { meta, listed: false };
  }

  #store(meta: Rpc.StoreMeta, listed = this.#row?.listed === true): Rpc.StoreMeta {
    writeStoreMeta(this.#sql, { meta, listed });
    this.#row = { meta, listed };
    return meta;
  }

  #later(): void {
    if (this.#due) return;
    this.#due = true;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(Date.now() + OUTBOX_MS));
  }
}
