// A kill in the middle of an undo does not stop it, and takes nothing from what it tells.

import {
  abortAllDurableObjects,
  env,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { expect, test } from "vitest";
import type { Actor, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import type { Directory } from "./directory.ts";
import { directoryOf, objectOf } from "./directory-fixture.ts";
import { actor } from "./history-fixture.ts";
import { newStoreMeta } from "./meta-fixture.ts";
import { rewind } from "./rewind.ts";
import type { RewindTo } from "./rewind-plan.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      CRASH_STRIDE: string;
    }
  }
}

/** Every so many-th commit is one to die at; the long run takes each. */
const STRIDE = Number(env.CRASH_STRIDE);

test.each(["the next change", "the alarm"])(
  "a rewind that a kill cut off goes on with %s, and does nothing twice",
  async (waker) => {
    const meta = newStoreMeta();
    const stub = () => memdirStub(env, meta.owner, meta.id);
    unwrap(await stub().open(meta));
    const put = async (path: string, content: string) =>
      unwrap(await stub().write({ path, bytes: new TextEncoder().encode(content), actor }));
    const paths = Array.from({ length: 20 }, (_, n) => `${n}.md`);
    for (const path of paths) await put(path, `${path} before`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const time = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const path of paths) await put(path, `${path} after`);
    const made = await put("made.md", "new");
    const before = unwrap(await stub().versions({ limit: 1000, withContent: false })).length;

    let puts = 0;
    const cutOff = runInDurableObject(objectOf(meta), (_instance, { storage }) => {
      const later = () => void storage.setAlarm(Date.now() + 60_000);
      const dir = directoryOf(meta, storage, { later });
      const put: Directory["files"]["put"] = (...args) => {
        puts += 1;
        // Here the kill comes: between an intent and its commit.
        return puts <= 5 ? dir.files.put(...args) : new Promise(() => {});
      };
      return rewind({ ...dir, files: { ...dir.files, put } }, { time }, { actor });
    }).then(
      () => false,
      () => true,
    );
    while (puts <= 5) await new Promise((resolve) => setTimeout(resolve, 1));
    await abortAllDurableObjects();
    expect(await cutOff).toBe(true);
    // Its constructor does nothing: here is what the kill left.
    const left = await runInDurableObject(
      objectOf(meta),
      (_instance, { storage }) =>
        storage.sql
          .exec<{ n: number }>("SELECT count(*) AS n FROM rewind_steps WHERE done = 0")
          .one().n,
    );
    expect(left).toBe(paths.length - 5);

    if (waker === "the alarm") expect(await runDurableObjectAlarm(objectOf(meta))).toBe(true);
    else await put("later.md", "later");
    for (const path of paths) {
      const found = unwrap(await stub().read(path));
      expect(new TextDecoder().decode(found?.bytes)).toBe(`${path} before`);
    }
    expect(made.status).toBe("written");
    expect(unwrap(await stub().read("made.md"))).toBeNull();
    const versions = unwrap(await stub().versions({ limit: 1000, withContent: false }));
    const own = versions.filter((version) => version.path !== "later.md");
    expect(own.length).toBe(before + paths.length + 1);
    expect(unwrap(await stub().importChanges())).toEqual([]);
    // Whoever asks again learns of all of it, once.
    const all = [...paths, "made.md", ...(waker === "the alarm" ? [] : ["later.md"])];
    for (const expected of [all, []]) {
      const { changed, skipped } = unwrap(await stub().rewind({ time }, { actor }));
      expect(changed.map((receipt) => receipt.path).toSorted()).toEqual(expected.toSorted());
      expect(skipped).toEqual([]);
    }
  },
);

test("killed at any of its commits and asked again, a rewind tells of all that it changed, and does nothing twice", {
  timeout: 120_000,
}, async () => {
  const whole = await killedRewind();
  expect(whole.changed).toEqual([
    "created 1.md",
    "created 2.md",
    "created gone.md",
    "deleted made.md",
    "modified kept.md",
  ]);
  const never = await killedRewind({ nth: Number.POSITIVE_INFINITY, when: "before" });
  const last = never.commits;
  expect(last).toBeGreaterThan(15);
  for (let nth = 1; nth <= last; nth += STRIDE) {
    const found = await killedRewind({ nth, when: "before" });
    expect(found, `killed before commit ${nth}`).toEqual({ ...whole, commits: nth });
  }
  for (let nth = last; nth >= 1; nth -= STRIDE) {
    const found = await killedRewind({ nth, when: "after" });
    // The last one is that the answer was given.
    const changed = nth === last ? [] : whole.changed;
    expect(found, `killed after commit ${nth}`).toEqual({ ...whole, changed, commits: nth });
  }
});

test("what a session's undo did before a kill is not told as somebody else's work", async () => {
  const { meta, life } = await store();
  const session = { type: "session", sessionId: "s", by: "agent" } as const;
  const write = async (path: string, content: string, by: Actor) =>
    unwrap(await life().write({ path, bytes: bytes(content), actor: by }));
  for (const path of ["a.md", "b.md", "c.md"]) await write(path, "before", actor);
  for (const path of ["a.md", "b.md", "c.md"]) await write(path, "by the session", session);
  const to = { sessionId: "s" };
  await dieAt(meta, to, { nth: 4, when: "after" });
  await write("later.md", "later", actor);
  await write("c.md", "by somebody else", actor);
  const { changed, skipped } = unwrap(await life().rewind(to, { actor }));
  expect(changed.map(({ path }) => path).toSorted()).toEqual(["a.md", "b.md", "c.md"]);
  expect(skipped).toMatchObject([{ path: "c.md" }]);
});

test("another rewind, or another actor's, learns nothing of one that was cut off", async () => {
  for (const second of ["time", "actor"]) {
    const { meta, life } = await store();
    const write = async (content: string) =>
      unwrap(await life().write({ path: "a.md", bytes: bytes(content), actor }));
    await write("before");
    const time = Date.now();
    await pause();
    await write("after");
    await dieAt(meta, { time }, { nth: 3, when: "after" });
    const by = second === "actor" ? { type: "user" as const, userId: "other" } : actor;
    const to = { time: second === "time" ? time + 1 : time };
    const reply = unwrap(await life().rewind(to, { actor: by }));
    expect(reply).toEqual({ changed: [], skipped: [] });
  }
});

test("a cut-off rewind that was told of keeps no path that a redaction has to find", async () => {
  const { meta, life } = await store();
  const write = async (content: string) =>
    unwrap(await life().write({ path: "secret-name.md", bytes: bytes(content), actor }));
  await write("before");
  const time = Date.now();
  await pause();
  await write("after");
  await dieAt(meta, { time }, { nth: 3, when: "after" });
  await write("later");
  const rows = await runInDurableObject(objectOf(meta), (_instance, { storage }) =>
    storage.sql.exec("SELECT * FROM rewind_steps").toArray(),
  );
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain("secret");
});

interface Kill {
  nth: number;
  when: "before" | "after";
}

/** A store that goes back, is killed at a commit of that, and goes back again. */
async function killedRewind(kill?: Kill) {
  const { meta, life } = await store();
  const put = async (path: string, content: string) => {
    const reply = unwrap(await life().write({ path, bytes: bytes(content), actor }));
    return reply.status === "written" ? reply.receipt.memoryId : "";
  };
  const one = await put("1.md", "one");
  const two = await put("2.md", "two");
  await put("kept.md", "before");
  await put("gone.md", "gone");
  await pause();
  const time = Date.now();
  await pause();
  const move = (id: string, path: string) => life().update({ id, path, actor });
  for (const [id, path] of [
    [one, "spare.md"],
    [two, "1.md"],
    [one, "2.md"],
  ] as const) {
    unwrap(await move(id, path));
  }
  await put("kept.md", "after");
  unwrap(await life().remove({ path: "gone.md", actor }));
  await put("made.md", "made");
  const commits = kill ? await dieAt(meta, { time }, kill) : 0;
  const { changed, skipped } = unwrap(await life().rewind({ time }, { actor }));
  const texts = [];
  for (const path of ["1.md", "2.md", "kept.md", "gone.md", "made.md"]) {
    const found = unwrap(await life().read(path));
    texts.push(found && new TextDecoder().decode(found.bytes));
  }
  return {
    commits,
    changed: changed.map(({ operation, path }) => `${operation} ${path}`).toSorted(),
    skipped,
    texts,
    versions: unwrap(await life().versions({ limit: 100, withContent: false })).length,
  };
}

/** Goes back, and the object dies at the nth commit; the answer is how many there were. */
async function dieAt(meta: StoreMeta, to: RewindTo, { nth, when }: Kill): Promise<number> {
  let commits = 0;
  await runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
    const dir = directoryOf(meta, storage);
    const commit: Directory["commit"] = (change) => {
      commits += 1;
      if (commits === nth && when === "before") throw new Error("It died");
      const result = dir.commit(change);
      if (commits === nth) throw new Error("It died");
      return result;
    };
    await rewind({ ...dir, commit }, to, { actor }).catch(() => {});
  });
  await abortAllDurableObjects();
  return commits;
}

async function store() {
  const meta = newStoreMeta({ kind: "custom" });
  const life = () => memdirStub(env, meta.owner, meta.id);
  unwrap(await life().open(meta));
  return { meta, life };
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
