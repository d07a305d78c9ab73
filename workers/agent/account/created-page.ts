// Pages of the account's lists: rows in the order in which they were made.

import type { PageQuery } from "../../../src/platform/objects/account-rpc.ts";
import { conditions } from "../../../src/platform/sql.ts";

/** The clause that follows `FROM table`, and its values, for a page of the rows that meet a condition. */
export function createdPage(
  condition: string,
  query: PageQuery,
): { clause: string; values: (string | number)[] } {
  const descending = query.order === "desc";
  const { after } = query;
  const { where, values } = conditions([
    [condition],
    ["created_at >= ?", query.from],
    ["created_at <= ?", query.to],
    [`(created_at, id) ${descending ? "<" : ">"} (?, ?)`, after?.createdAt, after?.id],
  ]);
  const order = descending ? "DESC" : "ASC";
  const clause = `WHERE ${where} ORDER BY created_at ${order}, id ${order} LIMIT ?`;
  return { clause, values: [...values, query.limit] };
}
