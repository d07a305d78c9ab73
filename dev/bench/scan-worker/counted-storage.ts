// The storage of an object, counted: rows that its statements read and wrote, its transactions, and
// how often it set its alarm.

const calls = new Map<string, number>();
/** A statement tells of its rows when it has ended: they are asked for later. */
const cursors: { who: string; cursor: { rowsRead: number; rowsWritten: number } }[] = [];

export function count(what: string, by = 1): void {
  calls.set(what, (calls.get(what) ?? 0) + by);
}

/** The counts since the last call. */
export function takeCounts(): Record<string, number> {
  for (const { who, cursor } of cursors.splice(0)) {
    count(`${who} rows read`, cursor.rowsRead);
    count(`${who} rows written`, cursor.rowsWritten);
  }
  const counts = Object.fromEntries(calls);
  calls.clear();
  return counts;
}

/** Replaces an object's storage by one that counts; before its class is constructed. */
export function countStorage(ctx: DurableObjectState, who: string): void {
  const { storage } = ctx;
  const sql = countedSql(storage.sql, who);
  const value = new Proxy(storage, {
    get(target, name) {
      if (name === "sql") return sql;
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => {
        count(`${who} ${String(name)}`);
        return Reflect.apply(method, target, args);
      };
    },
  });
  Object.defineProperty(ctx, "storage", { value });
}

function countedSql(sql: SqlStorage, who: string): SqlStorage {
  return new Proxy(sql, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      if (name !== "exec") return method.bind(target);
      return (query: string, ...values: unknown[]) => {
        count(`${who} statements`);
        const cursor = target.exec(query, ...values);
        cursors.push({ who, cursor });
        return cursor;
      };
    },
  });
}
