// What the rows of every object share: conditions that a query may or may not have, and the table
// whose presence says that an object holds something.

type Value = string | number;

/**
 * The conditions of which every value is set, joined by AND, with their values in order. Without any
 * it holds for every row.
 */
export function conditions(
  asked: readonly (readonly [clause: string, ...values: (Value | undefined)[]])[],
): { where: string; values: Value[] } {
  const clauses = ["1"];
  const values: Value[] = [];
  for (const [clause, ...own] of asked) {
    const set = own.filter((value) => value !== undefined);
    if (set.length < own.length) continue;
    clauses.push(clause);
    values.push(...set);
  }
  return { where: clauses.join(" AND "), values };
}

/** Whether an object has this table; asking leaves no trace. */
export function hasTable(sql: SqlStorage, name: string): boolean {
  const found = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name);
  return found.toArray().length > 0;
}
