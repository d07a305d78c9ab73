const DAY_MS = 24 * 60 * 60 * 1000;
/** From this age on a memory carries a note, in days. */
const STALE_DAYS = 2;

/**
 * How old a memory is, in milliseconds; both times are epoch milliseconds. A time in the future is
 * no age at all (clocks differ); a missing, zero or unreadable time gives undefined.
 */
export function ageOf(modifiedMs: number | undefined, nowMs: number): number | undefined {
  if (modifiedMs === undefined || !Number.isFinite(modifiedMs) || modifiedMs <= 0) return undefined;
  return Math.max(0, nowMs - modifiedMs);
}

/** An age in milliseconds in words, counted in full days of 24 hours; never negative. */
export function ageInWords(ageMs: number | undefined): string {
  const days = fullDays(ageMs);
  if (days === undefined) return "unknown age";
  if (days === 0) return "today";
  return days === 1 ? "yesterday" : `${days} days ago`;
}

/** The note on a memory that is two days old or older. An unknown age says so by itself. */
export function freshnessNote(ageMs: number | undefined): string | undefined {
  const days = fullDays(ageMs);
  if (days === undefined || days < STALE_DAYS) return undefined;
  return `This memory was written ${days} days ago and may be out of date: check what it says against the present state before you rely on it.`;
}

function fullDays(ageMs: number | undefined): number | undefined {
  if (ageMs === undefined || !Number.isFinite(ageMs)) return undefined;
  return Math.max(0, Math.floor(ageMs / DAY_MS));
}
