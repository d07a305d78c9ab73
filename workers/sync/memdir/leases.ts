// Who may run in the background over this directory: one holder a kind at a time. The token grows
// with each grant; a write under an older one is refused, however late it comes.

import type { LeaseName, LeaseReply } from "../../../src/platform/memdir-rpc.ts";

interface Holder {
  sql: SqlStorage;
  now(): number;
}

type Row = { holder: string; token: number; until: number };

/** Grants the lease if it is free, has run out, or is asked for again by its holder. */
export function acquire(dir: Holder, name: LeaseName, holder: string, ms: number): LeaseReply {
  const row = lease(dir, name);
  const now = dir.now();
  if (row && row.until > now && row.holder !== holder) return { status: "held", until: row.until };
  const token = (row?.token ?? 0) + 1;
  const until = now + ms;
  dir.sql.exec(
    "INSERT OR REPLACE INTO leases (name, holder, token, until) VALUES (?, ?, ?, ?)",
    name,
    holder,
    token,
    until,
  );
  return { status: "granted", token, until };
}

/** Lengthens a lease that is still held. */
export function renew(dir: Holder, name: LeaseName, token: number, ms: number): LeaseReply {
  if (!holdsLease(dir, name, token)) return { status: "held", until: lease(dir, name)?.until ?? 0 };
  const until = dir.now() + ms;
  dir.sql.exec("UPDATE leases SET until = ? WHERE name = ?", until, name);
  return { status: "granted", token, until };
}

/** Gives a lease back; a holder that lost it changes nothing. */
export function release(dir: Holder, name: LeaseName, token: number): void {
  dir.sql.exec("UPDATE leases SET until = 0 WHERE name = ? AND token = ?", name, token);
}

/** Whether this token is the newest and its time has not run out. */
export function holdsLease(dir: Holder, name: LeaseName, token: number): boolean {
  const row = lease(dir, name);
  return row !== undefined && row.token === token && row.until > dir.now();
}

function lease(dir: Holder, name: LeaseName): Row | undefined {
  const rows = dir.sql.exec<Row>("SELECT holder, token, until FROM leases WHERE name = ?", name);
  return rows.toArray()[0];
}
