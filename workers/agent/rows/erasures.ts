import * as z from "zod";
import { defineState } from "../../../src/platform/state.ts";

const state = defineState("erasures", z.number(), 0);

/** How often something was erased in a session's rows: who read them before the last time reads them again. */
export function erasures(sql: SqlStorage): number {
  return state.read(sql);
}

/** Within the transaction that erases. */
export function countErasure(sql: SqlStorage): void {
  state.write(sql, state.read(sql) + 1);
}
