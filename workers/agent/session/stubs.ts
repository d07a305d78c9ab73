// From a principal to its sessions. The principal is part of an object's name, so that another one's
// id leads to an object that holds nothing.

import type { Principal } from "../../../src/platform/http/auth.ts";
import { sessionObject } from "../../../src/platform/objects/session-rpc.ts";
import type { AgentEnv } from "../../env.ts";
import type { Session } from "./session.ts";

type Owner = Pick<Principal, "tenant" | "user">;
type Calls<T, Names extends keyof T> = {
  [Name in Names]: T[Name] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export type SessionStub = Calls<
  Session,
  | "create"
  | "retrieve"
  | "send"
  | "events"
  | "stream"
  | "recalls"
  | "extractions"
  | "extract"
  | "settleLosses"
  | "notes"
  | "putNotes"
  | "dropExtraction"
  | "archive"
  | "compact"
  | "destroy"
>;

/** The session of this id, if it is the principal's; else an object that answers `not_found`. */
export function sessionStub(env: Pick<AgentEnv, "SESSION">, owner: Owner, id: string): SessionStub {
  // The platform's own stub type loses every method whose result holds `unknown`.
  return sessionObject(env, owner, id) as unknown as SessionStub;
}
