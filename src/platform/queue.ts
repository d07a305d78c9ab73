// The work queue. A message points to work that is recorded elsewhere, on disk. It may be lost, doubled,
// late or out of order, and nothing depends on it.

import * as z from "zod";
import { QUEUE_DELAY_MOST_S } from "../shared/limits/extraction.ts";
import { errorName, log } from "./log.ts";

/** A session has turns, up to `upTo`, that an extraction should look at. */
const extract = z.strictObject({
  kind: z.literal("extract"),
  tenant: z.string().min(1),
  user: z.string().min(1),
  session: z.string().min(1),
  /** The session's memory store. The session ignores a message with another one. */
  store: z.string().min(1),
  /** Absent if the message only says that the session is next. */
  upTo: z.int().min(1).optional(),
});
/** A store's content was redacted: the sessions of its owner that hold copies erase them. */
const erase = z.strictObject({
  kind: z.literal("erase"),
  tenant: z.string().min(1),
  user: z.string().min(1),
  store: z.string().min(1),
  /** Sessions up to this one have been told. */
  after: z.strictObject({ id: z.string(), createdAt: z.number() }).optional(),
});
const work = z.discriminatedUnion("kind", [extract, erase]);

export type ExtractWork = z.infer<typeof extract>;
export type EraseWork = z.infer<typeof erase>;
export type Work = z.infer<typeof work>;

/** Sends a message. Throws what the queue throws. */
export async function sendWork(queue: Queue, message: Work): Promise<void> {
  await queue.send(work.parse(message), { contentType: "json" });
}

/** The result of a message: done, or retry it after so many milliseconds. */
type WorkReply = { status: "done" } | { status: "retry"; afterMs: number };

export interface WorkHandler {
  run(message: Work): Promise<WorkReply>;
  /** After the last retry of a message. */
  giveUp(message: Work): Promise<void>;
}

const DEAD_LETTER_QUEUE = "memdir-work-dead";
const FIRST_RETRY_MS = 5_000;

/**
 * Consumes a batch of the work queue or of its dead-letter queue. Each message is acknowledged by itself,
 * after its work, so that one failure does not repeat the others. A message that cannot be parsed is
 * logged and acknowledged, since a retry would not help.
 */
export async function consumeWork(batch: MessageBatch, handler: WorkHandler): Promise<void> {
  await Promise.all(
    batch.messages.map((message) =>
      batch.queue === DEAD_LETTER_QUEUE ? consumeDead(message, handler) : consume(message, handler),
    ),
  );
}

async function consume(message: Message, handler: WorkHandler): Promise<void> {
  const parsed = work.safeParse(message.body);
  if (!parsed.success) {
    log("work.dead", { message: message.id, reason: "unreadable" });
    message.ack();
    return;
  }
  try {
    const reply = await handler.run(parsed.data);
    if (reply.status === "done") message.ack();
    else retryLater(message, reply.afterMs);
  } catch (error) {
    log("work.failed", { message: message.id, tries: message.attempts, error: errorName(error) });
    retryLater(message, FIRST_RETRY_MS * 2 ** message.attempts);
  }
}

async function consumeDead(message: Message, handler: WorkHandler): Promise<void> {
  const parsed = work.safeParse(message.body);
  const kind = parsed.success ? parsed.data.kind : "unreadable";
  log("work.dead", { message: message.id, reason: kind });
  try {
    if (parsed.success) await handler.giveUp(parsed.data);
    message.ack();
  } catch (error) {
    log("work.dead_not_told", { message: message.id, error: errorName(error) });
    message.retry({ delaySeconds: QUEUE_DELAY_MOST_S });
  }
}

function retryLater(message: Message, ms: number): void {
  message.retry({ delaySeconds: Math.min(Math.ceil(ms / 1000), QUEUE_DELAY_MOST_S) });
}
