interface Done {
  rows: unknown[];
  rowsWritten: number;
}

/** The same rows; `watch` hears of each statement what it read and how many rows it wrote. */
export function watchedSql(sql: SqlStorage, watch: (done: Done) => void): SqlStorage {
  const exec: SqlStorage["exec"] = (query, ...values) => {
    const cursor = sql.exec<never>(query, ...values);
    const rows = cursor.toArray();
    watch({ rows, rowsWritten: cursor.rowsWritten });
    return Object.assign(Object.create(cursor), {
      toArray: () => rows,
      one: () => rows[0],
      [Symbol.iterator]: () => rows[Symbol.iterator](),
    });
  };
  return new Proxy(sql, {
    get: (target, name) => (name === "exec" ? exec : Reflect.get(target, name, target)),
  });
}
