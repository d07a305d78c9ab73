// Work that nobody waits for: what the queue delivers and what the clock starts. No kind of work
// exists yet; a message that nobody knows is not thrown away but comes to rest in the dead-letter
// queue, where it is logged.

import { log } from "../../src/platform/log.ts";

const DEAD = "memdir-work-dead";

/** Consumes the work queue and its dead-letter queue. */
export async function onWork(batch: MessageBatch): Promise<void> {
  for (const message of batch.messages) {
    log(batch.queue === DEAD ? "work.dead" : "work.unknown", { message: message.id });
    if (batch.queue === DEAD) message.ack();
    else message.retry();
  }
}

/** Runs every quarter of an hour. */
export async function onSchedule(event: ScheduledController): Promise<void> {
  log("cron.nothing_due", { cron: event.cron });
}
