// Who may run in the background over this directory: one holder a kind at a time. The directory
// refuses a write under any token but the newest, however late it comes.
//
// Most leases are given back within a moment, and those never touch the disk. One that somebody holds
// for longer, or waits for, is on disk: it outlives this instance of the object. One that a restart
// takes before that is nobody's afterwards. Tokens are drawn by chance, so no later instance and no
// later holder has one that was ever given before.

import * as z from "zod";
import { errorName, log } from "../../../src/platform/log.ts";
import type { LeaseName, LeaseReply } from "../../../src/platform/objects/memdir-rpc.ts";

/**
 * A lease held for longer than this is on disk, in milliseconds: the platform drops an object ten
 * seconds after its last call, and a holder may say nothing for longer.
 */
const KEPT_MS = 3_000;

const names = z.array(z.string());

export interface Leases {
  /**
   * Grants the lease for `ms` milliseconds if it is free, has run out, or is its holder's already:
   * then the older token is void. Where somebody else holds it, this remembers `waiter`, once;
   * `release` names it.
   */
  acquire(name: LeaseName, holder: string, ms: number, waiter?: string): LeaseReply;
  /** Lengthens a lease, also one that has run out and that nobody else has taken since. */
  renew(name: LeaseName, token: number, ms: number): LeaseReply;
  /**
   * Gives a lease back; a holder that lost it, or gave it back before, changes nothing. The answer is
   * who has waited longest, and waits no more: to tell them is the holder's last duty. Whoever hears
   * nothing asks again.
   */
  release(name: LeaseName, token: number): string | null;
  /** Whether this token is the newest and its time has not run out. */
  holds(name: LeaseName, token: number): boolean;
  /** Forgets everything: the rows are gone. */
  clear(): void;
}

interface Lease {
  holder: { name: string; token: number; until: number } | null;
  /** Who asked for it in vain, in order. */
  waiters: string[];
}

interface Known {
  lease: Lease;
  /** Whether its row says the same; a lease without a row says nothing that must outlive us. */
  onDisk: boolean;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

type Row = { holder: string | null; token: number; until: number; waiters: string };

/** The leases of one instance of the object. `keptMs` as above; a test may give another. */
export function createLeases(sql: SqlStorage, now: () => number, keptMs = KEPT_MS): Leases {
  const all = new Map<LeaseName, Known>();

  const find = (name: LeaseName): Known => {
    const known = all.get(name) ?? readLease(sql, name);
    all.set(name, known);
    return known;
  };
  /** First the disk, where it is concerned: what fails there has not happened. */
  const change = (name: LeaseName, known: Known, lease: Lease, keep = known.onDisk) => {
    if (keep) known.onDisk = writeLease(sql, name, lease);
    known.lease = lease;
    if (known.onDisk || !lease.holder) {
      clearTimeout(known.timer);
      known.timer = undefined;
      return;
    }
    known.timer ??= setTimeout(() => {
      try {
        change(name, known, known.lease, true);
      } catch (error) {
        log("memdir.lease_not_kept", { error: errorName(error) });
      }
    }, keptMs);
  };

  return {
    acquire(name, holder, ms, waiter) {
      const known = find(name);
      const { holder: held, waiters } = known.lease;
      if (held && held.until > now() && held.name !== holder) {
        if (waiter !== undefined && !waiters.includes(waiter)) {
          change(name, known, { holder: held, waiters: [...waiters, waiter] }, true);
        }
        return { status: "held", until: held.until };
      }
      const given = { name: holder, token: newToken(), until: now() + ms };
      change(name, known, { holder: given, waiters: waiters.filter((other) => other !== waiter) });
      return { status: "granted", token: given.token, until: given.until };
    },
    renew(name, token, ms) {
      const known = find(name);
      const { holder: held, waiters } = known.lease;
      if (held?.token !== token) return { status: "held", until: held?.until ?? 0 };
      const until = now() + ms;
      change(name, known, { holder: { ...held, until }, waiters });
      return { status: "granted", token, until };
    },
    release(name, token) {
      const known = find(name);
      const { holder, waiters } = known.lease;
      if (holder?.token !== token) return null;
      const [next = null, ...others] = waiters;
      change(name, known, { holder: null, waiters: others });
      return next;
    },
    holds(name, token) {
      const held = find(name).lease.holder;
      return held?.token === token && held.until > now();
    },
    clear() {
      for (const { timer } of all.values()) clearTimeout(timer);
      all.clear();
    },
  };
}

/** A number of 53 bits that nobody has had before and nobody can guess. */
function newToken(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 21) * 2 ** 32 + low;
}

function readLease(sql: SqlStorage, name: LeaseName): Known {
  const [row] = sql
    .exec<Row>("SELECT holder, token, until, waiters FROM leases WHERE name = ?", name)
    .toArray();
  if (!row) return { lease: { holder: null, waiters: [] }, onDisk: false };
  const { holder, token, until } = row;
  const waiters = names.parse(JSON.parse(row.waiters));
  const lease = { holder: holder === null ? null : { name: holder, token, until }, waiters };
  return { lease, onDisk: true };
}

/** Whether there is a row now: a lease that nobody has and nobody waits for needs none. */
function writeLease(sql: SqlStorage, name: LeaseName, { holder, waiters }: Lease): boolean {
  if (!holder && waiters.length === 0) {
    sql.exec("DELETE FROM leases WHERE name = ?", name);
    return false;
  }
  sql.exec(
    "INSERT OR REPLACE INTO leases (name, holder, token, until, waiters) VALUES (?, ?, ?, ?, ?)",
    name,
    holder?.name ?? null,
    holder?.token ?? 0,
    holder?.until ?? 0,
    JSON.stringify(waiters),
  );
  return true;
}
