// What others ask a user's account, and what it answers. Each worker calls it through these names.

import type { Purpose } from "../../shared/loop/model.ts";
import type { Principal } from "../http/auth.ts";
import type { StoreKind } from "./memdir-rpc.ts";
import type { Reply } from "./reply.ts";

export interface RequestKey {
  key: string;
  /** SHA-256 of the request's body. */
  hash: string;
}

export interface SessionRow {
  id: string;
  createdAt: number;
}

/** How a session is, as JSON that only sessions read. */
export interface ListedState {
  /** Grows with every change: of two reports the one with more is the later one. */
  version: number;
  state: string | null;
  /** It will be another one soon, and its session tells it again meanwhile: it need not be on disk. */
  passing?: boolean;
}

/** What a list shows of a session, so that nobody has to ask it. */
export interface ListedSession extends ListedState {
  /** What is fixed at creation, as JSON; null where it is too large to be kept twice. */
  fixed: string | null;
}

export type ListedRow = SessionRow & Pick<ListedSession, "fixed" | "state">;

/** One page of rows in the order of their creation. */
export interface PageQuery {
  limit: number;
  order: "asc" | "desc";
  /** The last row of the page before. */
  after?: { id: string; createdAt: number } | undefined;
  /** Bounds in milliseconds, inclusive. */
  from?: number | undefined;
  to?: number | undefined;
}

export interface StoreRow {
  id: string;
  kind: StoreKind;
  createdAt: number;
  archived: boolean;
}

/** A list of stores always begins with the newest. */
export interface StoreQuery extends Omit<PageQuery, "order"> {
  includeArchived: boolean;
}

/** What one session asked of one model for one purpose on one UTC day, so far; tokens as in `Usage`. */
export type UsageRow = {
  /** `YYYY-MM-DD`. */
  day: string;
  purpose: Purpose;
  model: string;
  requests: number;
  input: number;
  cacheRead: number;
  cacheCreation: number;
  output: number;
};

/** Rows added up. The purpose may be one that only another version of the service knows. */
export type UsageTotal = Omit<UsageRow, "day" | "purpose"> & { purpose: string };

export interface UsageQuery {
  sessionId?: string | undefined;
  /** UTC days, inclusive. */
  from?: string | undefined;
  to?: string | undefined;
}

/** The methods of the object `Account`; `workers/agent/account/account.ts` says what each promises. */
export interface AccountCalls {
  reserve(request: RequestKey | undefined, now: number): Promise<Reply<SessionRow>>;
  ready(id: string, listed: ListedSession): void;
  remove(id: string): void;
  list(query: PageQuery): ListedRow[];
  abandoned(now: number): string[];
  addStore(row: StoreRow, request?: RequestKey): Promise<Reply<StoreRow>>;
  removeStore(id: string): void;
  archiveStore(id: string): void;
  listStores(query: StoreQuery): StoreRow[];
  reportUsage(sessionId: string, rows: UsageRow[], listed?: ListedState): void;
  usage(query: UsageQuery): UsageTotal[];
  tokensOn(day: string): number;
}

export type AccountStub = {
  [Name in keyof AccountCalls]: (
    ...args: Parameters<AccountCalls[Name]>
  ) => Promise<Awaited<ReturnType<AccountCalls[Name]>>>;
};

/** The principal's account. */
export function accountStub(
  env: { ACCOUNT: DurableObjectNamespace },
  owner: Pick<Principal, "tenant" | "user">,
): AccountStub {
  const name = JSON.stringify([owner.tenant, owner.user]);
  // The platform's own stub type loses every method whose result holds `unknown`.
  return env.ACCOUNT.get(env.ACCOUNT.idFromName(name)) as unknown as AccountStub;
}
