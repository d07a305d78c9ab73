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
import { variablesOf } from "../../src/platform/variables.ts";
import { MemdirError } from "../../src/shared/errors.ts";
import {
  RESEND_FIRST_MS,
  RETRY_FIRST_MS,
  USAGE_REPORT_MS,
  WATCHDOG_MS,
} from "../../src/shared/limits.ts";
import type { LoopOutcome } from "../../src/shared/query/steps.ts";
import type { AgentEnv } from "../env.ts";
import type { Background } from "./background.ts";
import { createBackground } from "./background.ts";
import type { Subscriber } from "./event-stream.ts";
import { eventStream } from "./event-stream.ts";
import type { EventQuery, StoredEvent } from "./events.ts";
import { appendEvent, lastSeq, readEvents, seqOfCursor } from "./events.ts";
import type { ExtractReply } from "./extract.ts";
import { dropBatch } from "./extract.ts";
import { readExtraction } from "./extraction-state.ts";
import { earlierReply, keepReply } from "./idempotency.ts";
import { openMemory } from "./memory.ts";
import type { NewMeta } from "./meta.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { listRecalls } from "./recalls.ts";
import type { ClientEvent } from "./requests.ts";
import { runShape } from "./run-shape.ts";
import { listRuns } from "./runs.ts";
import { createSchema, hasSchema } from "./schema.ts";
import { sessionShape } from "./session-shape.ts";
import { finishTurn, startTurn } from "./turn-ends.ts";
import { runTurn } from "./turn-runner.ts";
import type { Turn } from "./turns.ts";
import { addTurn, changeTurn, currentTurn } from "./turns.ts";
import { unreportedUsage } from "./usage.ts";

/** A page of events: their JSON, and the number to go on behind. */
export interface EventPage {
  data: string[];
  next: number | undefined;
}

/** A page of what a session keeps beside its events: JSON, and the number to go on behind. */
export interface RecordPage {
  data: Record<string, unknown>[];
  next: number | undefined;
}

export interface StreamRequest {
  /** A number or id of an event; without it the stream starts with what comes next. */
  cursor: string | undefined;
  previews: string[];
}

/** How long an aborted turn may take to write down that it ended, in milliseconds. */
const ABORT_MS = 5_000;

export class Session extends DurableObject<AgentEnv> {
  readonly #sql = this.ctx.storage.sql;
  readonly #subscribers = new Set<Subscriber>();
  #active: { turn: number; stop: AbortController; done: Promise<void> } | undefined;
  #deletion: Promise<void> | undefined;
  #gone = false;
  #alarmAt: number | undefined;
  #made: Background | undefined;

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
          for (const event of events) this.#accept(event);
        });
      }
      this.#kick();
      return this.#shape();
    });
  }

  retrieve(): Promise<Reply<Record<string, unknown>>> {
    return replyWith(() => {
      this.#open();
      return this.#shape();
    });
  }

  /** Takes client events; the reply means that they are on disk. */
  send(events: ClientEvent[], request: RequestKey | undefined): Promise<Reply<string[]>> {
    return replyWith(() => {
      this.#open();
      if (readMeta(this.#sql).archivedAt !== null) throw archived();
      const earlier = earlierReply(this.#sql, request);
      if (earlier !== undefined) return this.#eventsById(earlier.split(","));
      let stored: StoredEvent[] = [];
      this.#commit(() => {
        stored = events.map((event) => this.#accept(event));
        keepReply(this.#sql, request, stored.map((event) => event.id).join(","), Date.now());
      });
      if (events.some((event) => event.type === "user.interrupt")) this.#active?.stop.abort();
      this.#kick();
      return stored.map((event) => event.json);
    });
  }

  events(query: EventQuery): Promise<Reply<EventPage>> {
    return replyWith(() => {
      this.#open();
      const rows = readEvents(this.#sql, { ...query, limit: query.limit + 1 });
      const data = rows.slice(0, query.limit);
      const next = rows.length > query.limit ? data.at(-1)?.seq : undefined;
      return { data: data.map((event) => event.json), next };
    });
  }

  stream(request: StreamRequest): Promise<Reply<ReadableStream<Uint8Array>>> {
    return replyWith(() => {
      this.#open();
      const { cursor, previews } = request;
      const after = cursor === undefined ? lastSeq(this.#sql) : seqOfCursor(this.#sql, cursor);
      if (after === undefined) {
        throw new MemdirError(
          "invalid_request",
          `Last-Event-ID or after: this session has no event "${cursor?.slice(0, 60)}"; its newest is ${lastSeq(this.#sql)}. Use a seq or an event id of this session, or 0 for all events`,
        );
      }
      return eventStream(
        (from, limit) => (this.#gone ? [] : readEvents(this.#sql, { after: from, limit })),
        (subscriber) => {
          this.#subscribers.add(subscriber);
          return () => this.#subscribers.delete(subscriber);
        },
        { after, previews },
      );
    });
  }

  /** Searches for memories, in the order of their turns. */
  recalls(query: { after: number; limit: number }): Promise<Reply<RecordPage>> {
    return replyWith(() => {
      this.#open();
      const rows = listRecalls(this.#sql, { ...query, limit: query.limit + 1 });
      const data = rows.slice(0, query.limit);
      const next = rows.length > query.limit ? data.at(-1)?.turn : undefined;
      return { data: data.map(({ body }) => body), next };
    });
  }

  /** Runs of the extraction fork with their logs, newest first. */
  extractions(query: { before?: number; limit: number }): Promise<Reply<RecordPage>> {
    return replyWith(() => {
      this.#open();
      const runs = listRuns(this.#sql, "extraction", { ...query, limit: query.limit + 1 });
      const data = runs.slice(0, query.limit);
      const next = runs.length > query.limit ? data.at(-1)?.n : undefined;
      return { data: data.map((run) => runShape(this.#sql, run)), next };
    });
  }

  /** Runs the extraction that is due, if this message is about this session and one still is. */
  async extract({ store, upTo }: Pick<ExtractWork, "store" | "upTo">): Promise<ExtractReply> {
    if (!hasSchema(this.#sql) || this.#deletion || this.#gone) return { status: "none" };
    const { memory, deleting } = readMeta(this.#sql);
    if (deleting || !memory.enabled || memory.storeId !== store) return { status: "none" };
    if (upTo !== undefined && upTo <= readExtraction(this.#sql).cursor) return { status: "none" };
    const reply = await this.#background.run(false);
    if (!this.#gone) {
      this.ctx.waitUntil(this.#background.report());
      this.#kick();
    }
    return reply;
  }

  /** The queue has given up: what it was about is dropped, and people are told. */
  async dropExtraction(): Promise<void> {
    if (!hasSchema(this.#sql) || this.#gone) return;
    dropBatch(this.#ports());
  }

  /** Ends the conversation and keeps it to be read: waits for work in flight, takes nothing new. */
  archive(): Promise<Reply<Record<string, unknown>>> {
    return replyWith(async () => {
      this.#open();
      const meta = readMeta(this.#sql);
      if (meta.archivedAt === null) {
        const now = Date.now();
        this.#commit(() => writeMeta(this.#sql, { ...meta, archivedAt: now, updatedAt: now }));
        await this.#settle(now + this.#drainMs());
      }
      return this.#shape();
    });
  }

  /** Ends the session: waits for the work in flight, then clears everything. */
  destroy(drainMs = this.#drainMs()): Promise<Reply<null>> {
    return replyWith(async () => {
      if (!hasSchema(this.#sql)) throw notFound();
      this.#deletion ??= this.#clear(drainMs);
      await this.#deletion;
      return null;
    });
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = undefined;
    if (!hasSchema(this.#sql)) return;
    if (readMeta(this.#sql).deleting) {
      // Deletion was begun by an instance that died.
      this.#deletion ??= this.#clear(this.#drainMs());
      await this.#deletion;
      return;
    }
    this.ctx.waitUntil(this.#background.report());
    this.#kick();
    this.#arm();
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

  /** Puts a client event into the log and does what it asks for. Within a transaction. */
  #accept(event: ClientEvent): StoredEvent {
    const stored = appendEvent(this.#sql, { ...event }, Date.now());
    switch (event.type) {
      case "user.message":
        addTurn(this.#sql, stored.id, JSON.stringify(event.content));
        break;
      case "user.interrupt": {
        const turn = currentTurn(this.#sql);
        if (turn?.status === "running") changeTurn(this.#sql, turn.n, { interrupted: true });
        break;
      }
    }
    return stored;
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

  /** True when the turn's end, or its pause, is on disk. Never throws. */
  async #runToEnd(turn: Turn, signal: AbortSignal): Promise<boolean> {
    try {
      let outcome: LoopOutcome | undefined;
      try {
        this.#commit(() => startTurn(this.#sql, turn, Date.now()));
        outcome = await runTurn(this.#ports(), turn, signal);
      } catch (error) {
        if (this.#gone) return false;
        log("session.turn_failed", { error: errorName(error), turn: turn.n });
      }
      const rules = {
        everyTurns: variablesOf(this.env).EXTRACTION_EVERY_TURNS,
        overBudget: await this.#background.overBudget(),
      };
      // So that whoever asks at the turn's end is told its tokens; they are not waited for long.
      await Promise.race([this.#background.report(), pause(USAGE_REPORT_MS)]);
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
    });
    return this.#made;
  }

  #ports() {
    return {
      sql: this.#sql,
      env: this.env,
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
    const turn = currentTurn(this.#sql);
    const working = this.#active !== undefined || this.#deletion !== undefined;
    const soonest = now + RETRY_FIRST_MS;
    const times = [
      working ? now + WATCHDOG_MS : undefined,
      turn && !working ? Math.max(turn.resumeAt ?? 0, soonest) : undefined,
      later(this.#background.tellAt(), soonest),
      unreportedUsage(this.#sql).length > 0 ? now + RESEND_FIRST_MS : undefined,
    ].filter((time) => time !== undefined);
    // Without anything due an alarm that still stands fires once and finds nothing.
    if (times.length === 0) return;
    const at = Math.min(...times);
    if (this.#alarmAt !== undefined && this.#alarmAt > now && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(at));
  }

  async #clear(drainMs: number): Promise<void> {
    this.#commit(() => writeMeta(this.#sql, { ...readMeta(this.#sql), deleting: true }));
    this.#arm();
    const until = Date.now() + drainMs;
    const running = this.#active;
    if (running) {
      await Promise.race([running.done, pause(drainMs)]);
      running.stop.abort();
      await Promise.race([running.done, pause(ABORT_MS)]);
    }
    await this.#background.drain(until).catch((error: unknown) => {
      log("session.not_drained", { error: errorName(error) });
    });
    await this.#background.report();
    const last = this.ctx.storage.transactionSync(() =>
      appendEvent(this.#sql, { type: "session.deleted" }, Date.now()),
    );
    for (const subscriber of this.#subscribers) subscriber.finish(last);
    this.#gone = true;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  /** Waits for the turn that runs and for what follows from it, at most until then. */
  async #settle(until: number): Promise<void> {
    const running = this.#active;
    if (running) await Promise.race([running.done, pause(until - Date.now())]);
    await this.#background.drain(until).catch((error: unknown) => {
      log("session.not_drained", { error: errorName(error) });
    });
  }

  #shape(): Record<string, unknown> {
    return sessionShape(this.#sql, readMeta(this.#sql), currentTurn(this.#sql), Date.now());
  }

  #eventsById(ids: string[]): string[] {
    return ids.flatMap((id) => {
      const seq = seqOfCursor(this.#sql, id);
      if (seq === undefined) return [];
      return readEvents(this.#sql, { after: seq - 1, limit: 1 }).map((event) => event.json);
    });
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

function later(time: number | undefined, soonest: number): number | undefined {
  return time === undefined ? undefined : Math.max(time, soonest);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
