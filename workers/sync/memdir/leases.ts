// Who may run in the background over this directory: one holder a kind at a time. The token grows
// with each grant; the directory refuses a write under an older one, however late it comes.

import type { LeaseName, LeaseReply } from "../../../src/platform/objects/memdir-rpc.ts";

interface Holder {
  sql: SqlStorage;
  now(): number;
}

type Row = { holder: string; token: number; until: number };

/**
 * Grants the lease if it is free, has run out, or is its holder's already. Where somebody holds it,
 * this remembers `waiter`, once; `release` names it.
 */
export function acquire(
  dir: Holder,
  name: LeaseName,
  holder: string,
  ms: number,
  waiter?: string,
): LeaseReply {
  const row = lease(dir, name);
  const now = dir.now();
  if (row && row.until > now && row.holder !== holder) {
    if (waiter !== undefined) {
      dir.sql.exec(
        "INSERT OR IGNORE INTO lease_waiters (name, waiter) VALUES (?, ?)",
        name,
        waiter,
      );
    }
    return { status: "held", until: row.until };
  }
  if (waiter !== undefined) {
    dir.sql.exec("DELETE FROM lease_waiters WHERE name = ? AND waiter = ?", name, waiter);
  }
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

/** Lengthens a lease, also one that has run out and that nobody else has taken since. */
export function renew(dir: Holder, name: LeaseName, token: number, ms: number): LeaseReply {
  const row = lease(dir, name);
  if (row?.token !== token || row.until === 0) return { status: "held", until: row?.until ?? 0 };
  const until = dir.now() + ms;
  dir.sql.exec("UPDATE leases SET until = ? WHERE name = ?", until, name);
  return { status: "granted", token, until };
}

/**
 * Gives a lease back; a holder that lost it, or gave it back before, changes nothing. The answer is
 * who has waited longest, and waits no more: to tell them is the holder's last duty. Whoever hears
 * nothing asks again.
 */
export function release(dir: Holder, name: LeaseName, token: number): string | null {
  const row = lease(dir, name);
  if (row?.token !== token || row.until === 0) return null;
  dir.sql.exec("UPDATE leases SET until = 0 WHERE name = ?", name);
  const [next] = dir.sql
    .exec<{ n: number; waiter: string }>(
      "SELECT n, waiter FROM lease_waiters WHERE name = ? ORDER BY n LIMIT 1",
      name,
    )
    .toArray();
  if (!next) return null;
  dir.sql.exec("DELETE FROM lease_waiters WHERE n = ?", next.n);
  return next.waiter;
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
