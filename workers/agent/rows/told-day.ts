// What day the model was told last. A compaction carries it over the cut, so it stays told.

import * as z from "zod";
import { defineState } from "../../../src/platform/state.ts";
import { type Day, dayOf } from "../../../src/shared/text/local-time.ts";
import { readMeta } from "./meta.ts";

const told = defineState("day", z.object({ date: z.string(), zone: z.string() }).nullable(), null);

/** The day of this moment, where the model does not know it yet. */
export function dayToTell(sql: SqlStorage, now: number): Day | undefined {
  const day = dayOf(now, readMeta(sql).timeZone);
  return told.read(sql)?.date === day.date ? undefined : day;
}

/** Within the transaction that puts the entry into the thread. */
export function keepTold(sql: SqlStorage, { date, zone }: Day): void {
  told.write(sql, { date, zone });
}
