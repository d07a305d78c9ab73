// The small state of an object: JSON by name, read and parsed once an instance. Its rows share a page of
// the disk, so what changes together is written together, once a transaction.
//
// The memory is ahead of the disk only within a transaction, and by what was noted: that goes to disk
// with the next transaction that writes state. So only that may be noted which does no harm if a crash
// forgets it: what spares work that may be done twice.

import type * as z from "zod";

/** The table of an object that has state. Without a rowid it needs no index beside it. */
export const STATE_TABLE =
  "CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID";

type Storage = Pick<DurableObjectStorage, "sql" | "transactionSync">;

/** One kind of state; `of` tells several of a kind apart. Values are never changed in place. */
export interface State<T> {
  read(sql: SqlStorage, of?: string): T;
  /** On disk with the transaction that it is called in; without one at once. */
  write(sql: SqlStorage, value: T, of?: string): void;
  /** On disk with the next transaction that writes state, or that `keepNoted` is called in. */
  note(sql: SqlStorage, value: T, of?: string): void;
  /** As it was before the first `write`. */
  clear(sql: SqlStorage, of?: string): void;
}

interface Cell {
  name: string;
  /** What is to be written; null deletes the row. */
  body(): string | null;
  /** What is on disk, null for no row. */
  written: string | null;
  /** How the value got ahead of the disk, where it is. */
  ahead: "noted" | "changed" | undefined;
  forget(): void;
}

/** What is known of the state of one object. */
interface Known {
  cells: Map<string, Cell>;
  /** Transactions that are open. */
  depth: number;
}

const objects = new WeakMap<SqlStorage, Known>();

function knownOf(sql: SqlStorage): Known {
  let known = objects.get(sql);
  if (!known) {
    known = { cells: new Map(), depth: 0 };
    objects.set(sql, known);
  }
  return known;
}

/** Defines a kind of state: its schema is checked when a row is read; `initial` is what there is without one. */
export function defineState<T>(kind: string, schema: z.ZodType<T>, initial: T): State<T> {
  interface Held extends Cell {
    value: T;
  }
  const held = new WeakMap<SqlStorage, Map<string, Held>>();

  function cellOf(sql: SqlStorage, of: string): Held {
    const name = of === "" ? kind : `${kind} ${of}`;
    let own = held.get(sql);
    if (!own) {
      own = new Map();
      held.set(sql, own);
    }
    const found = own.get(name);
    if (found) return found;
    const [row] = sql
      .exec<{ body: string }>("SELECT body FROM state WHERE name = ?", name)
      .toArray();
    const cells = own;
    const cell: Held = {
      name,
      value: row ? schema.parse(JSON.parse(row.body)) : initial,
      body: () => (cell.value === initial ? null : JSON.stringify(cell.value)),
      written: row?.body ?? null,
      ahead: undefined,
      forget: () => cells.delete(name),
    };
    own.set(name, cell);
    knownOf(sql).cells.set(name, cell);
    return cell;
  }

  const write = (sql: SqlStorage, value: T, of = "") => {
    const cell = cellOf(sql, of);
    cell.value = value;
    cell.ahead = "changed";
    if (knownOf(sql).depth === 0) writeState(sql);
  };
  return {
    read: (sql, of = "") => cellOf(sql, of).value,
    write,
    note(sql, value, of = "") {
      const cell = cellOf(sql, of);
      cell.value = value;
      cell.ahead ??= "noted";
    },
    clear: (sql, of = "") => write(sql, initial, of),
  };
}

/** Something that an instance knows and that is never on disk: another instance, or one whose transaction was undone, does not know it. */
export interface Memory<T> {
  get(sql: SqlStorage): T | undefined;
  set(sql: SqlStorage, value: T | undefined): void;
}

export function defineMemory<T>(): Memory<T> {
  const held = new WeakMap<SqlStorage, { of: Known; value: T | undefined }>();
  return {
    get(sql) {
      const found = held.get(sql);
      return found?.of === knownOf(sql) ? found.value : undefined;
    },
    set: (sql, value) => void held.set(sql, { of: knownOf(sql), value }),
  };
}

/** Runs a function as one transaction; the state that it changed is written at its end. */
export function transaction<T>(storage: Storage, run: () => T): T {
  knownOf(storage.sql).depth += 1;
  try {
    return storage.transactionSync(() => {
      const result = run();
      if (knownOf(storage.sql).depth === 1) writeState(storage.sql);
      return result;
    });
  } catch (error) {
    // Nothing of it is on disk.
    forgetState(storage.sql);
    throw error;
  } finally {
    knownOf(storage.sql).depth -= 1;
  }
}

/** What is known of an object's state is read anew: its rows were changed by something else. */
export function forgetState(sql: SqlStorage): void {
  const { cells, depth } = knownOf(sql);
  for (const cell of cells.values()) cell.forget();
  objects.set(sql, { cells: new Map(), depth });
}

/** What was noted goes to disk with the transaction that this is called in. */
export function keepNoted(sql: SqlStorage): void {
  for (const cell of knownOf(sql).cells.values()) {
    if (cell.ahead === "noted") cell.ahead = "changed";
  }
}

function writeState(sql: SqlStorage): void {
  const cells = [...knownOf(sql).cells.values()].filter(({ ahead }) => ahead !== undefined);
  if (!cells.some(({ ahead }) => ahead === "changed")) return;
  for (const cell of cells) {
    const body = cell.body();
    if (body === null && cell.written !== null) {
      sql.exec("DELETE FROM state WHERE name = ?", cell.name);
    } else if (body !== null && body !== cell.written) {
      sql.exec(
        "INSERT INTO state (name, body) VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body",
        cell.name,
        body,
      );
    }
    cell.written = body;
    cell.ahead = undefined;
  }
}
