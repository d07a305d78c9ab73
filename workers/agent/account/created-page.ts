// Pages of the account's lists: rows in the order in which they were made.

import type { PageQuery } from "../../../src/platform/objects/account-rpc.ts";

/** The clause that follows `FROM table`, and its values, for a page of the rows that meet a condition. */
export function createdPage(
  condition: string,
  query: PageQuery,
): { clause: string; values: (string | number)[] } {
  const descending = query.order === "desc";
  const where = [condition];
  const values: (string | number)[] = [];
  if (query.from !== undefined) {
    where.push("created_at >= ?");
    values.push(query.from);
  }
  if (query.to !== undefined) {
    where.push("created_at <= ?");
    values.push(query.to);
  }
  if (query.after) {
    where.push(`(created_at, id) ${descending ? "<" : ">"} (?, ?)`);
    values.push(query.after.createdAt, query.after.id);
  }
  const order = descending ? "DESC" : "ASC";
  const clause = `WHERE ${where.join(" AND ")} ORDER BY created_at ${order}, id ${order} LIMIT ?`;
  return { clause, values: [...values, query.limit] };
}
