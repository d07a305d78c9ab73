import { env, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import * as z from "zod";
import type { AgentEnv } from "../../workers/env.ts";
import { defineState, forgetState, keepNoted, STATE_TABLE, transaction } from "./state.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

const boats = defineState("boats", z.object({ count: z.number() }), { count: 0 });
const tide = defineState("tide", z.string(), "low");

test("what a transaction changed is on disk with it, once, and what one undid is as it was", () =>
  inside((storage) => {
    const { sql } = storage;
    transaction(storage, () => {
      boats.write(sql, { count: 1 });
      boats.write(sql, { count: 2 });
      expect(boats.read(sql)).toEqual({ count: 2 });
      expect(rows(sql)).toEqual([]);
    });
    expect(rows(sql)).toEqual([{ name: "boats", body: '{"count":2}' }]);
    const failing = () =>
      transaction(storage, () => {
        boats.write(sql, { count: 3 });
        throw new Error("no");
      });
    expect(failing).toThrow("no");
    expect(boats.read(sql)).toEqual({ count: 2 });
  }));

test("a transaction within another writes at the end of the outer one", () =>
  inside((storage) => {
    const { sql } = storage;
    transaction(storage, () => {
      transaction(storage, () => boats.write(sql, { count: 1 }));
      expect(rows(sql)).toEqual([]);
      boats.write(sql, { count: 2 });
    });
    expect(rows(sql)).toEqual([{ name: "boats", body: '{"count":2}' }]);
  }));

test("several of a kind are apart, and one that is cleared leaves no row", () =>
  inside(({ sql }) => {
    boats.write(sql, { count: 1 }, "north");
    boats.write(sql, { count: 2 }, "south");
    expect([boats.read(sql, "north"), boats.read(sql)]).toEqual([{ count: 1 }, { count: 0 }]);
    boats.clear(sql, "north");
    expect(rows(sql)).toEqual([{ name: "boats south", body: '{"count":2}' }]);
    expect(boats.read(sql, "north")).toEqual({ count: 0 });
  }));

test("what was noted goes to disk with the next change of state, or where it is asked for", () =>
  inside((storage) => {
    const { sql } = storage;
    tide.note(sql, "high");
    transaction(storage, () => sql.exec("SELECT 1"));
    expect([tide.read(sql), rows(sql)]).toEqual(["high", []]);
    transaction(storage, () => boats.write(sql, { count: 1 }));
    expect(rows(sql)).toHaveLength(2);
    tide.note(sql, "low tide");
    transaction(storage, () => keepNoted(sql));
    forgetState(sql);
    expect(tide.read(sql)).toBe("low tide");
    // A change that is not on disk is no mere note any more.
    transaction(storage, () => {
      tide.write(sql, "rising");
      tide.note(sql, "high");
    });
    forgetState(sql);
    expect(tide.read(sql)).toBe("high");
  }));

test("another instance reads what is on disk, and a row that is not valid is an error", async () => {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    sql.exec(STATE_TABLE);
    boats.write(sql, { count: 7 });
    boats.note(sql, { count: 8 });
  });
  await evictDurableObject(object);
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    expect(boats.read(sql)).toEqual({ count: 7 });
    sql.exec(`UPDATE state SET body = '{"count":"many"}'`);
    forgetState(sql);
    expect(() => boats.read(sql)).toThrow();
  });
});

function rows(sql: SqlStorage): unknown[] {
  return sql.exec("SELECT name, body FROM state ORDER BY name").toArray();
}

/** In an object that holds nothing but the table. */
function inside(work: (storage: DurableObjectStorage) => void): Promise<void> {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  return runInDurableObject(object, (_instance, { storage }) => {
    storage.sql.exec(STATE_TABLE);
    work(storage);
  });
}
