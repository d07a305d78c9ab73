// A user's tokens are budgeted by the UTC day: what was read from the cache does not count.

const DAY_MS = 24 * 60 * 60 * 1000;

/** The UTC day of a time in milliseconds, as `YYYY-MM-DD`. */
export function utcDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** When the UTC day behind that of a time begins, in milliseconds: a budget is whole again. */
export function nextUtcDay(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}

/**
 * Whether a day's tokens are used up. Exactly used up is over: whatever came next would exceed it.
 * Without a budget nothing ever is.
 */
export function overBudget(used: number, budget: number | undefined): boolean {
  return budget !== undefined && used >= budget;
}
