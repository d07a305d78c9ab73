// A user's token budget for one UTC day. Tokens that were read from the cache do not count.

const DAY_MS = 24 * 60 * 60 * 1000;

/** The UTC day of a time in milliseconds, as `YYYY-MM-DD`. */
export function utcDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** When the UTC day after that of a time begins, in milliseconds: the budget starts again. */
export function nextUtcDay(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}

/**
 * Whether a day's tokens are used up. Exactly used up counts: the next request would exceed the budget.
 * Always false without a budget.
 */
export function overBudget(used: number, budget: number | undefined): boolean {
  return budget !== undefined && used >= budget;
}
