// One session: a Durable Object that holds its rows, the one turn that runs, and its listeners.
//
// Everything that is acknowledged is on disk. A turn that was cut off by a crash is found again in
// its rows: by the next request, or by the alarm that stands while anything is due.

import { DurableObject } from "cloudflare:workers";
import type { RequestKey } from "../../src/platform/account-rpc.ts";
import { errorName, log } from "../../src/platform/log.ts";
import type { ExtractWork } from "../../src/platform/queue.ts";
import type { Reply } from "../../src/platform/reply.ts";
import { replyWith } from "../../src/platform/reply.ts";
import type { ExtractReply } from "../../src/platform/session-rpc.ts";
import { variablesOf } from "../../src/platform/variables.ts";
import { MemdirError } from "../../src/shared/errors.ts";
import type { Precondition } from "../../src/shared/files/store.ts";
import { USAGE_REPORT_MS } from "../../src/shared/limits.ts";
import type { LoopOutcome } from "../../src/shared/query/steps.ts";
import type { AgentEnv } from "../env.ts";
import { acceptEvent } from "./accept-event.ts";
import type { Background } from "./background.ts";
import { createBackground } from "./background.ts";
import type { ClientEvent } from "./client-events.ts";
import {
  compactIdle,
  compactionDue,
  compactionReply,
  requestCompaction,
} from "./compact-request.ts";
import type { Subscriber } from "./event-stream.ts";
import type { EventQuery, StoredEvent } from "./events.ts";
import { appendEvent, eventsById } from "./events.ts";
import { dropBatch } from "./extract.ts";
import { readExtraction } from "./extraction-state.ts";
import { earlierReply, keepReply } from "./idempotency.ts";
import { openMemory } from "./memory.ts";
import type { NewMeta } from "./meta.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { nextAlarm } from "./next-alarm.ts";
import type { SessionNotes } from "./notes.ts";
import type { NotesPage } from "./notes-page.ts";
import { notesPage, putNotes } from "./notes-page.ts";
import { interruptTurn, isPaused } from "./pauses.ts";
import { createSchema, hasSchema } from "./schema.ts";
import { stopWork, workOff } from "./session-end.ts";
import { createSessionNotes } from "./session-notes.ts";
import type { EventPage, RecordPage, StreamRequest } from "./session-reads.ts";
import { eventPage, extractionPage, openStream, recallPage } from "./session-reads.ts";
import { sessionShape } from "./session-shape.ts";
import { within } from "./sleep.ts";
import type { Subrequests } from "./subrequests.ts";
import { countedFiles } from "./subrequests.ts";
import { finishTurn, startTurn } from "./turn-ends.ts";
import { runTurn } from "./turn-runner.ts";
import type { Turn } from "./turns.ts";
import { currentTurn } from "./turns.ts";
import { unreportedUsage } from "./usage.ts";

/** How long a call waits for the run that it started, in milliseconds; the run goes on either way. */
const EXTRACT_REPLY_MS = 2_000;

export class Session extends DurableObject<AgentEnv> {
  readonly #sql = this.ctx.storage.sql;
  readonly #subscribers = new Set<Subscriber>();
  readonly #subrequests: Subrequests = { used: 0 };
  #active: { turn: number; stop: AbortController; done: Promise<void> } | undefined;
  #deletion: Promise<void> | undefined;
  #gone = false;
  #alarmAt: number | undefined;
  #made: Background | undefined;
  #notesMade: SessionNotes | undefined;

  constructor(ctx: DurableObjectState, env: AgentEnv) {
    super(ctx, env);
    if (hasSchema(this.#sql)) createSchema(this.#sql);
  }

  /** Makes the session, with its first events. Called again with the same id it changes nothing. */
  create(meta: NewMeta, events: ClientEvent[]): Promise<Reply<Record<string, unknown>>> {
    return replyWith(async () => {
      const bare = meta.metadata.bare === "true";
      const memory = hasSchema(this.#sql)
        ? undefined
        : await openMemory(this.env, meta, { ...meta, bare }, variablesOf(this.env));
      // Another call with this id may have come first while the memory was looked for.
      if (memory && !hasSchema(this.#sql)) {
        this.#commit(() => {
          createSchema(this.#sql);
          writeMeta(this.#sql, { ...meta, memory });
          for (const event of events) acceptEvent(this.#sql, event, Date.now());
        });
      }
      this.#kick();
      return this.#shape();
    });
  }

  retrieve(): Promise<Reply<Record<string, unknown>>> {
    return this.#reading(() => this.#shape());
  }

  /** Takes client events; the reply means that they are on disk. */
  send(events: ClientEvent[], request: RequestKey | undefined): Promise<Reply<string[]>> {
    return replyWith(() => {
      this.#open();
      if (readMeta(this.#sql).archivedAt !== null) throw archived();
      const earlier = earlierReply(this.#sql, request);
      if (earlier !== undefined) return eventsById(this.#sql, earlier.split(","));
      let stored: StoredEvent[] = [];
      this.#commit(() => {
        stored = events.map((event, n) => acceptEvent(this.#sql, event, Date.now(), `events.${n}`));
        keepReply(this.#sql, request, stored.map((event) => event.id).join(","), Date.now());
      });
      if (events.some((event) => event.type === "user.interrupt")) this.#active?.stop.abort();
      if (!this.#active) this.#subrequests.used = 0;
      this.#kick();
      return stored.map((event) => event.json);
    });
  }

  events(query: EventQuery): Promise<Reply<EventPage>> {
    return this.#reading(() => eventPage(this.#sql, query));
  }

  stream(request: StreamRequest): Promise<Reply<ReadableStream<Uint8Array>>> {
    return this.#reading(() =>
      openStream(this.#sql, request, { subscribers: this.#subscribers, gone: () => this.#gone }),
    );
  }

  /** Searches for memories, in the order of their turns. */
  recalls(query: { after: number; limit: number }): Promise<Reply<RecordPage>> {
    return this.#reading(() => recallPage(this.#sql, query));
  }

  /** Runs of the extraction fork with their logs, newest first. */
  extractions(query: { before?: number; limit: number }): Promise<Reply<RecordPage>> {
    return this.#reading(() => extractionPage(this.#sql, query));
  }

  notes(): Promise<Reply<NotesPage>> {
    return this.#reading(() => notesPage(this.#sql));
  }

  /** Replaces the notes by a person's, where they are as the precondition says. */
  putNotes(text: string, precondition: Precondition | undefined): Promise<Reply<NotesPage>> {
    return this.#reading(() => {
      if (readMeta(this.#sql).archivedAt !== null) throw archived();
      this.#commit(() => putNotes(this.#sql, text, precondition, Date.now()));
      return notesPage(this.#sql);
    });
  }

  /** Starts the extraction that is due, if this message is about this session and one still is. */
  async extract({ store, upTo }: Pick<ExtractWork, "store" | "upTo">): Promise<ExtractReply> {
    if (!hasSchema(this.#sql) || this.#deletion || this.#gone) return { status: "none" };
    const { memory, deleting } = readMeta(this.#sql);
    if (deleting || !memory.enabled || memory.storeId !== store) return { status: "none" };
    if (upTo !== undefined && upTo <= readExtraction(this.#sql).cursor) return { status: "none" };
    const run = this.#background.run(false);
    return (await within(EXTRACT_REPLY_MS, run)) ?? { status: "running" };
  }

  /** The queue has given up: what it was about is dropped, and people are told. */
  async dropExtraction(upTo?: number): Promise<void> {
    if (!hasSchema(this.#sql) || this.#gone) return;
    dropBatch(this.#ports(), upTo);
  }

  /** Shortens what the model sees of the conversation: now, or at the running turn's next step. */
  compact(): Promise<Reply<Record<string, unknown>>> {
    return replyWith(async () => {
      this.#open();
      if (readMeta(this.#sql).archivedAt !== null) throw archived();
      let after = 0;
      this.#commit(() => {
        after = requestCompaction(this.#sql);
      });
      this.#kick();
      if (!currentTurn(this.#sql)) await this.#active?.done;
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
        this.#kick();
        await workOff(this.#active, this.#behind(), this.#drainMs());
        this.#kick();
      }
      return this.#shape();
    });
  }

  /** Ends the session: waits for the work in flight, then clears everything. */
  destroy(drainMs = this.#drainMs()): Promise<Reply<null>> {
    return replyWith(async () => {
      if (!hasSchema(this.#sql)) throw notFound();
      await this.#delete(drainMs);
      return null;
    });
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = undefined;
    // A turn that runs goes on in the invocation in which it began.
    if (!this.#active) this.#subrequests.used = 0;
    if (!hasSchema(this.#sql)) return;
    if (readMeta(this.#sql).deleting) {
      // Deletion was begun by an instance that died.
      await this.#delete(this.#drainMs());
      return;
    }
    this.ctx.waitUntil(this.#background.report());
    this.#kick();
    this.#arm();
  }

  #reading<T>(read: () => T): Promise<Reply<T>> {
    return replyWith(() => {
      this.#open();
      return read();
    });
  }

  /** Refuses what does not exist or is being deleted, and lets a cut-off turn go on. */
  #open(): void {
    if (!hasSchema(this.#sql) || readMeta(this.#sql).deleting) throw notFound();
    this.#kick();
  }

  /** One transaction; who listens is told when it is made. */
  #commit(write: () => void): void {
    if (this.#gone) throw notFound();
    this.ctx.storage.transactionSync(write);
    for (const subscriber of this.#subscribers) subscriber.wake();
  }

  /** Starts the turn that is due, if none runs. Never waits. */
  #kick(): void {
    if (this.#deletion || this.#gone) return;
    const turn = this.#active ? undefined : currentTurn(this.#sql);
    const due = turn && (turn.interrupted || (turn.resumeAt ?? 0) <= Date.now());
    if (turn && due) {
      const stop = new AbortController();
      if (turn.interrupted) stop.abort();
      const done = this.#run(turn, stop);
      this.#active = { turn: turn.n, stop, done };
      this.ctx.waitUntil(done);
    } else if (!this.#active && compactionDue(this.#sql)) {
      const stop = new AbortController();
      const done = this.#compactIdle(stop);
      this.#active = { turn: 0, stop, done };
      this.ctx.waitUntil(done);
    }
    this.#background.tell();
    this.#arm();
  }

  async #run(turn: Turn, stop: AbortController): Promise<void> {
    // The caller has to know of this turn before anything of it happens.
    await Promise.resolve();
    const ended = await this.#runToEnd(turn, stop.signal);
    stop.abort();
    // No await between the end of a turn and the look for the next: a message that came before is
    // seen here, one that comes later starts its turn itself.
    this.#active = undefined;
    // A turn whose end could not be written is left to the alarm, lest it spin.
    if (ended && !this.#gone) this.#kick();
  }

  async #compactIdle(stop: AbortController): Promise<void> {
    await Promise.resolve();
    let settled = false;
    try {
      await compactIdle({ ...this.#ports(), notes: this.#notes }, stop.signal);
      settled = true;
    } catch (error) {
      if (!this.#gone) log("session.compaction_failed", { error: errorName(error) });
    }
    stop.abort();
    this.#active = undefined;
    if (settled && !this.#gone) this.#kick();
  }

  /** True when the turn's end, or its pause, is on disk. Never throws. */
  async #runToEnd(turn: Turn, signal: AbortSignal): Promise<boolean> {
    try {
      let outcome: LoopOutcome | undefined;
      try {
        this.#commit(() => startTurn(this.#sql, turn, Date.now()));
        outcome = await runTurn({ ...this.#ports(), notes: this.#notes }, turn, signal);
      } catch (error) {
        if (this.#gone) return false;
        log("session.turn_failed", { error: errorName(error), turn: turn.n });
      }
      const rules = {
        everyTurns: variablesOf(this.env).EXTRACTION_EVERY_TURNS,
        overBudget: (await within(USAGE_REPORT_MS, this.#background.overBudget())) ?? false,
      };
      // So that whoever asks at the turn's end is told its tokens; they are not waited for long.
      await within(USAGE_REPORT_MS, this.#background.report());
      this.#commit(() => finishTurn(this.#sql, turn.n, outcome, rules, Date.now()));
      return true;
    } catch (error) {
      if (!this.#gone) log("session.end_not_written", { error: errorName(error), turn: turn.n });
      return false;
    }
  }

  /** Made when it is first needed: a wrong variable is then the answer to a call, not a broken object. */
  get #background(): Background {
    this.#made ??= createBackground({
      ...this.#ports(),
      waitUntil: (work) => this.ctx.waitUntil(work),
      ended: () => this.#ended(),
    });
    return this.#made;
  }

  get #notes(): SessionNotes {
    this.#notesMade ??= createSessionNotes({
      ...this.#ports(),
      waitUntil: (work) => this.ctx.waitUntil(work),
      ended: () => this.#ended(),
    });
    return this.#notesMade;
  }

  /** Work behind a turn has ended: its tokens are told, and what waits for it begins. */
  #ended(): void {
    if (this.#gone) return;
    this.ctx.waitUntil(this.#background.report());
    this.#kick();
  }

  #behind() {
    return { background: this.#background, notes: this.#notes };
  }

  #ports() {
    return {
      sql: this.#sql,
      env: { ...this.env, FILES: countedFiles(this.env.FILES, this.#subrequests) },
      subrequests: this.#subrequests,
      settings: variablesOf(this.env),
      commit: (write: () => void) => this.#commit(write),
      preview: (frames: Parameters<Subscriber["preview"]>[0]) => {
        for (const subscriber of this.#subscribers) subscriber.preview(frames);
      },
      now: () => Date.now(),
      overBudget: () => this.#background.overBudget(),
    };
  }

  #drainMs(): number {
    return variablesOf(this.env).EXTRACTION_DRAIN_MS;
  }

  /** Sets the alarm to when something is next due; the platform has one alarm, so it is the minimum. */
  #arm(): void {
    if (this.#gone) return;
    const now = Date.now();
    const working = this.#active !== undefined || this.#deletion !== undefined;
    const at = nextAlarm(
      {
        working,
        turn: currentTurn(this.#sql),
        tellAt: this.#background.tellAt(),
        unreported: unreportedUsage(this.#sql).length > 0,
      },
      now,
    );
    // Without anything due an alarm that still stands fires once and finds nothing.
    if (at === undefined) return;
    if (this.#alarmAt !== undefined && this.#alarmAt > now && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(at));
  }

  /** Once for all who ask; one that failed can be asked for again. */
  async #delete(drainMs: number): Promise<void> {
    this.#deletion ??= this.#clear(drainMs);
    try {
      await this.#deletion;
    } catch (error) {
      this.#deletion = undefined;
      throw error;
    }
  }

  async #clear(drainMs: number): Promise<void> {
    this.#commit(() => writeMeta(this.#sql, { ...readMeta(this.#sql), deleting: true }));
    this.#arm();
    await stopWork(this.#active, this.#behind(), drainMs);
    const last = this.ctx.storage.transactionSync(() =>
      appendEvent(this.#sql, { type: "session.deleted" }, Date.now()),
    );
    for (const subscriber of this.#subscribers) subscriber.finish(last);
    this.#gone = true;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  #shape(): Record<string, unknown> {
    return sessionShape(this.#sql, readMeta(this.#sql), currentTurn(this.#sql), Date.now());
  }
}

function notFound(): MemdirError {
  return new MemdirError("not_found", "There is no such session");
}

function archived(): MemdirError {
  return new MemdirError(
    "invalid_request",
    "This session is archived: it can be read, and takes no events. Create a new one",
  );
}
