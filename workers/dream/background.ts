// What the clock starts. No kind of work of its own exists yet.

import { log } from "../../src/platform/log.ts";

/** Runs every quarter of an hour. */
export async function onSchedule(event: ScheduledController): Promise<void> {
  log("cron.nothing_due", { cron: event.cron });
}
