// The work queue: messages that point to work and never carry it. What is to be done is on disk where
// it belongs; a message may be lost, doubled, late or out of order, and nothing depends on it.

import * as z from "zod";
import { QUEUE_DELAY_MOST_S } from "../shared/limits/extraction.ts";
import { errorName, log } from "./log.ts";

/** A session of this owner has turns, up to this one, that an extraction should look at. */
const extract = z.strictObject({
  kind: z.literal("extract"),
  tenant: z.string().min(1),
  user: z.string().min(1),
  session: z.string().min(1),
  /** The session's memory store: a message about another one is not about this session. */
  store: z.string().min(1),
  /** Absent where the session is only told that its turn has come. */
  upTo: z.int().min(1).optional(),
});
const work = z.discriminatedUnion("kind", [extract]);

export type ExtractWork = z.infer<typeof extract>;
export type Work = z.infer<typeof work>;

/** Puts a pointer into the queue. Throws what the queue throws; the work itself is recorded elsewhere. */
export async function sendWork(queue: Queue, message: Work): Promise<void> {
  await queue.send(work.parse(message), { contentType: "json" });
}

/** What became of a message: done, or to be tried again after so many milliseconds. */
export type WorkReply = { status: "done" } | { status: "retry"; afterMs: number };

export interface WorkHandler {
  run(message: Work): Promise<WorkReply>;
  /** The message was tried too often and comes no more. */
  giveUp(message: Work): Promise<void>;
}

const DEAD_LETTER_QUEUE = "memdir-work-dead";
const FIRST_RETRY_MS = 5_000;

/**
 * Consumes a batch of the work queue or of its dead-letter queue. Each message is answered for alone,
 * when its work is done: one that fails does not make its neighbours run again. One that cannot be
 * read is logged and goes no further, since it would be no better the next time.
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
