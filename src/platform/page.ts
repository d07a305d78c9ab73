/**
 * A page of rows that were read with one more than the page may hold: that one says that others
 * follow. Then `last` is the page's last row, from which the next one goes on.
 */
export function cutPage<T>(rows: readonly T[], limit: number): { page: T[]; last: T | undefined } {
  const page = rows.slice(0, limit);
  return { page, last: rows.length > limit ? page.at(-1) : undefined };
}
