// One session: a Durable Object that holds its rows, the one turn that runs, and its listeners.
//
// Everything that is acknowledged is on disk. A turn that was cut off by a crash is found again in
// its rows: by the next request, or by the alarm, which is set while anything is due.

import { DurableObject } from "cloudflare:workers";
import type { ListedSession, RequestKey } from "../../../src/platform/objects/account-rpc.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { replyWith } from "../../../src/platform/objects/reply.ts";
import type { ExtractReply } from "../../../src/platform/objects/session-rpc.ts";
import type { ExtractWork } from "../../../src/platform/queue.ts";
import { within } from "../../../src/platform/sleep.ts";
import { forgetState, transaction } from "../../../src/platform/state.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import type { Precondition } from "../../../src/shared/files/store.ts";
import { EXTRACT_REPLY_MS } from "../../../src/shared/limits/extraction.ts";
import type { AgentEnv } from "../../env.ts";
import type { ClientEvent } from "../contract/client-events.ts";
import type { NotesPage } from "../notes/notes-page.ts";
import { notesPage, putNotes } from "../notes/notes-page.ts";
import type { EventQuery } from "../rows/events.ts";
import { appendEvent, takeAppended } from "../rows/events.ts";
import { readExtraction } from "../rows/extraction-state.ts";
import type { NewMeta } from "../rows/meta.ts";
import { readMeta, writeMeta } from "../rows/meta.ts";
import { currentTurn } from "../rows/turns.ts";
import { completeMeta } from "../setup/complete-meta.ts";
import type { Subscriber } from "../stream/subscription.ts";
import { acceptEvent } from "../turn/accept-event.ts";
import { interruptTurn, isPaused } from "../turn/pause-turn.ts";
import { compactionReply, requestCompaction } from "./compact-request.ts";
import { archived, notFound, notTold } from "./refusals.ts";
import { createSchema, hasSchema } from "./schema.ts";
import type { RecordPage, StreamRequest } from "./session-reads.ts";
import { extractionPage, openPage, openStream, recallPage } from "./session-reads.ts";
import type { Created } from "./session-shape.ts";
import { listedFixed, listedState, sessionShape } from "./session-shape.ts";
import type { SessionWork } from "./session-work.ts";
import { createSessionWork } from "./session-work.ts";
import { takeEvents } from "./take-events.ts";

export class Session extends DurableObject<AgentEnv> {
  readonly #sql = this.ctx.storage.sql;
  readonly #subscribers = new Set<Subscriber>();
  #deletion: Promise<void> | undefined;
  /** From the first attempt on: one that fails is tried again, and nothing begins in between. */
  #deleting = false;
  #gone = false;
  #madeWork: SessionWork | undefined;

  /** Makes the session, with its first events. Called again with the same id it changes nothing. */
  create(meta: NewMeta, events: ClientEvent[]): Promise<Reply<Created>> {
    return replyWith(async () => {
      const complete = hasSchema(this.#sql) ? undefined : await completeMeta(this.env, meta);
      // Another call with this id may have come first meanwhile.
      if (complete && !hasSchema(this.#sql)) {
        this.#commit(() => {
          createSchema(this.#sql);
          writeMeta(this.#sql, complete);
          for (const event of events) acceptEvent(this.#sql, event, Date.now());
        });
      }
      // The caller hands what is returned to the account.
      this.#work.reports.toldByReply();
      this.#work.startDue();
      return { shape: this.#shape(), listed: this.#listed() };
    });
  }

  retrieve(): Promise<Reply<Record<string, unknown>>> {
    return this.#reading(() => this.#shape());
  }

  /** Takes client events; the reply means that they are on disk. */
  send(events: ClientEvent[], request: RequestKey | undefined): Promise<Reply<string[]>> {
    return replyWith(() => {
      this.#openToWrite();
      const commit = <T>(write: () => T) => this.#commit(write);
      return takeEvents(
        { sql: this.#sql, env: this.env, work: this.#work, commit },
        events,
        request,
      );
    });
  }

  /** The JSON of a page of events; it fails where the session is deleted before it is read. */
  events(query: EventQuery): Promise<Reply<ReadableStream<Uint8Array>>> {
    return this.#showing(() => openPage(this.#sql, query, { gone: () => this.#gone }));
  }

  stream(request: StreamRequest): Promise<Reply<ReadableStream<Uint8Array>>> {
    return this.#showing(() =>
      openStream(this.#sql, request, { subscribers: this.#subscribers, gone: () => this.#gone }),
    );
  }

  /** Searches for memories, in the order of their turns. */
  recalls(query: { after: number; limit: number }): Promise<Reply<RecordPage>> {
    return this.#showing(() => recallPage(this.#sql, query));
  }

  /** Runs of the extraction fork with their logs, newest first. */
  extractions(query: { before?: number | undefined; limit: number }): Promise<Reply<RecordPage>> {
    return this.#showing(() => extractionPage(this.#sql, query));
  }

  notes(): Promise<Reply<NotesPage>> {
    return this.#reading(() => notesPage(this.#sql));
  }

  /** Replaces the notes by a person's, where they are as the precondition says. */
  putNotes(text: string, precondition: Precondition | undefined): Promise<Reply<NotesPage>> {
    return replyWith(() => {
      this.#openToWrite();
      this.#commit(() => putNotes(this.#sql, text, precondition, Date.now()));
      return notesPage(this.#sql);
    });
  }

  /** Starts the extraction that is due, if this message is about this session and one still is. */
  async extract({ store, upTo }: Pick<ExtractWork, "store" | "upTo">): Promise<ExtractReply> {
    if (!this.#isOf(store)) return { status: "none" };
    if (upTo !== undefined && upTo <= readExtraction(this.#sql).cursor) return { status: "none" };
    return (await within(EXTRACT_REPLY_MS, this.#work.extract())) ?? { status: "running" };
  }

  /** The queue has given up: what its message was about is dropped, and an event says so. */
  async dropExtraction(upTo?: number): Promise<void> {
    if (!hasSchema(this.#sql) || this.#gone) return;
    this.#work.dropExtraction(upTo);
  }

  /** Shortens what the model sees of the conversation: now, or at the running turn's next step. */
  compact(): Promise<Reply<Record<string, unknown>>> {
    return replyWith(async () => {
      this.#openToWrite();
      const after = this.#commit(() => requestCompaction(this.#sql));
      this.#work.startDue();
      if (!currentTurn(this.#sql)) await this.#work.done();
      return compactionReply(this.#sql, after);
    });
  }

  /** Ends the conversation and keeps it to be read: waits for work in flight, takes nothing new. */
  archive(): Promise<Reply<Record<string, unknown>>> {
    return replyWith(async () => {
      this.#open();
      const meta = readMeta(this.#sql);
      if (meta.archivedAt === null) {
        const now = Date.now();
        this.#commit(() => {
          writeMeta(this.#sql, { ...meta, archivedAt: now, updatedAt: now });
          // Nobody can answer any more.
          if (isPaused(this.#sql, currentTurn(this.#sql))) interruptTurn(this.#sql, now);
        });
        this.#work.reports.changed();
        this.#work.startDue();
        await this.#work.drain(variablesOf(this.env).EXTRACTION_DRAIN_MS);
        // It may have been deleted meanwhile.
        this.#open();
      }
      return this.#shape();
    });
  }

  /** Ends the session: stops the work in flight, drops what is due, clears everything. */
  destroy(): Promise<Reply<null>> {
    return replyWith(async () => {
      if (!hasSchema(this.#sql)) throw notFound();
      await this.#delete();
      return null;
    });
  }

  override async alarm(): Promise<void> {
    if (!hasSchema(this.#sql)) return;
    // Deletion was begun by an instance that died.
    if (readMeta(this.#sql).deleting) await this.#delete();
    else this.#work.onAlarm();
  }

  #reading<T>(read: () => T): Promise<Reply<T>> {
    return replyWith(() => {
      this.#open();
      return read();
    });
  }

  /** The same for what may hold copies of memories: none of one that was redacted by now is shown. */
  #showing<T>(read: () => T): Promise<Reply<T>> {
    return replyWith(async () => {
      this.#open();
      await this.#work.settleLosses();
      this.#open();
      return read();
    });
  }

  /** Takes in what the memory directory lost, where it is this session's. */
  async settleLosses(store: string): Promise<void> {
    if (this.#isOf(store)) await this.#work.settleLosses();
  }

  #isOf(store: string): boolean {
    if (!hasSchema(this.#sql) || this.#deletion || this.#gone) return false;
    const { memory, deleting } = readMeta(this.#sql);
    return !deleting && memory.enabled && memory.storeId === store;
  }

  /** Refuses what does not exist or is being deleted, and lets a cut-off turn go on. */
  #open(): void {
    if (!hasSchema(this.#sql) || readMeta(this.#sql).deleting) throw notFound();
    this.#work.startDue();
  }

  /** The same for what changes the conversation: one that was archived is only read. */
  #openToWrite(): void {
    this.#open();
    if (readMeta(this.#sql).archivedAt !== null) throw archived();
  }

  /** One transaction; then the subscribers are woken. */
  #commit<T>(write: () => T): T {
    if (this.#gone) throw notFound();
    const result = transaction(this.ctx.storage, write);
    const events = takeAppended(this.#sql);
    if (events.length > 0) for (const subscriber of this.#subscribers) subscriber.wake(events);
    return result;
  }

  /** Made when it is first needed: a wrong variable is then the answer to a call, not a broken object. */
  get #work(): SessionWork {
    this.#madeWork ??= createSessionWork({
      ctx: this.ctx,
      env: () => this.env,
      commit: (write) => this.#commit(write),
      preview: (frames) => {
        for (const subscriber of this.#subscribers) subscriber.preview(frames);
      },
      state: () => (this.#gone ? "gone" : this.#deleting ? "deleting" : "alive"),
    });
    return this.#madeWork;
  }

  /** Once for all who ask; one that failed can be asked for again. */
  async #delete(): Promise<void> {
    this.#deletion ??= this.#clear();
    try {
      await this.#deletion;
    } catch (error) {
      this.#deletion = undefined;
      throw error;
    }
  }

  async #clear(): Promise<void> {
    this.#commit(() => writeMeta(this.#sql, { ...readMeta(this.#sql), deleting: true }));
    this.#deleting = true;
    this.#work.reports.changed();
    this.#work.reports.tell();
    this.#work.setAlarm();
    await this.#work.stop();
    // A list would show for ever what nobody is left to tell of.
    if (this.#work.reports.due()) throw notTold();
    const last = transaction(this.ctx.storage, () =>
      appendEvent(this.#sql, { type: "session.deleted" }, Date.now()),
    );
    for (const subscriber of this.#subscribers) subscriber.finish(last);
    this.#gone = true;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    forgetState(this.#sql);
  }

  #shape(): Record<string, unknown> {
    return sessionShape(this.#sql, readMeta(this.#sql), currentTurn(this.#sql), Date.now());
  }

  #listed(): ListedSession {
    const meta = readMeta(this.#sql);
    const state = listedState(this.#sql, meta, currentTurn(this.#sql));
    return { ...state, fixed: listedFixed(meta) ?? null };
  }
}
