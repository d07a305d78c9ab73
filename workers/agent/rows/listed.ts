// How much of this session its account knows, for the account's list.

import * as z from "zod";
import { defineState } from "../../../src/platform/state.ts";

const listed = defineState("listed", z.number(), -1);

/** The version of the state that the account has for sure; -1 before the first. */
export function listedVersion(sql: SqlStorage): number {
  return listed.read(sql);
}

/** The account has this version of a session that stands still. Forgotten, it is told again. */
export function noteListed(sql: SqlStorage, version: number): void {
  listed.note(sql, version);
}
