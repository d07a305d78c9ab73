import { describe, expect, it, vi } from "vitest";
import type { FileStore } from "../files/store.ts";
import { PROBE_BUDGET } from "./probe.ts";
import { storeOf } from "./recall-fixture.ts";
import { verifyClaims } from "./verify.ts";

const TEXT = "auth lives in src/auth/login.ts, call validateToken()";
const GONE = "`src/auth/login.ts` is not there any more";
const LOGIN = "export function validateToken() {}";

async function check(
  store: FileStore,
  text: string,
  more: { project?: string; budget?: Partial<typeof PROBE_BUDGET>; memoryFiles?: string[] } = {},
): Promise<string[] | undefined> {
  const { project = "/workspace/app", budget, memoryFiles } = more;
  const found = await verifyClaims(
    [{ path: "m.md", text }],
    { store, at: "/workspace/app", project },
    { ...PROBE_BUDGET, ...budget },
    new Set(memoryFiles),
  );
  return found.get("m.md");
}

/** A workspace of so many files that a search does not see them all. */
const large = (files: Record<string, string>) =>
  storeOf({
    ...Object.fromEntries(Array.from({ length: 41 }, (_, at) => [`x/${at}.ts`, `${at}`])),
    ...files,
  });

describe("TRUST-02: of what a memory names", () => {
  it("a: nothing is said where both are there", async () => {
    expect(await check(await storeOf({ "src/auth/login.ts": LOGIN }), TEXT)).toEqual([]);
  });

  it("b: a file that is gone is said, and a function that went with it", async () => {
    expect(await check(await storeOf({ "src/other.ts": "x" }), TEXT)).toEqual([
      GONE,
      "`validateToken` was not found in the workspace",
    ]);
    expect(await check(await large({}), TEXT)).toEqual([GONE]);
  });

  it("c: a function that was renamed is said", async () => {
    const store = await storeOf({ "src/auth/login.ts": "validateTokens(); revalidateToken();" });
    expect(await check(store, TEXT)).toEqual([
      "`validateToken` was not found in `src/auth/login.ts` or elsewhere in the workspace",
    ]);
  });

  it("d: what lies outside is neither looked for nor spoken of", async () => {
    const store = await storeOf({});
    const calls = [vi.spyOn(store, "head"), vi.spyOn(store, "get"), vi.spyOn(store, "list")];
    const text =
      "/etc/passwd.txt, ../../x/y.ts, https://a.example/b/c.ts and ~/.ssh/config.d/x.conf";
    expect(await check(store, text)).toEqual([]);
    for (const call of calls) expect(call).not.toHaveBeenCalled();
  });
});

describe("a file", () => {
  it("is looked for below the project, then below the workspace", async () => {
    const store = await storeOf({ "api/src/a.ts": "", "lib/b.ts": "", "src/c.ts": "" });
    const project = "/workspace/app/api";
    expect(await check(store, "src/a.ts lib/b.ts src/c.ts api/src/a.ts", { project })).toEqual([]);
    expect(await check(store, "src/b.ts", { project })).toHaveLength(1);
  });

  it("may be named by its absolute path, if that lies below the project or the workspace", async () => {
    const store = await storeOf({ "api/a.ts": "" });
    const text = "/workspace/app/api/a.ts /workspace/app/api/b.ts /workspace/other/c.ts";
    expect(await check(store, text, { project: "/workspace/app/api" })).toEqual([
      "`b.ts` is not there any more",
    ]);
  });

  it("is there where it is a folder with files", async () => {
    const store = await storeOf({ "etc/sites.enabled/a": "" });
    expect(await check(store, "see etc/sites.enabled")).toEqual([]);
    expect(await check(store, "see etc/sites.available")).toHaveLength(1);
  });

  it("that moved to another folder is not where the memory says", async () => {
    const store = await storeOf({ "old/src/auth/login.ts": LOGIN });
    expect(await check(store, TEXT)).toEqual([GONE]);
  });

  it("that is named without its folder is looked for in all of them", async () => {
    const store = await storeOf({ "src/auth/login.ts": LOGIN });
    expect(await check(store, "`login.ts` has validateToken()")).toEqual([]);
    expect(await check(store, "`logout.ts`")).toEqual(["`logout.ts` is not there any more"]);
    expect(await check(store, "`logout.ts`", { budget: { entries: 0 } })).toEqual([]);
  });

  it("of the memory directory is no claim", async () => {
    const memoryFiles = ["notes/b.md"];
    expect(await check(await storeOf({}), "see notes/b.md", { memoryFiles })).toEqual([]);
    expect(await check(await storeOf({}), "see notes/b.md")).toHaveLength(1);
  });
});

describe("a symbol", () => {
  it("that moved to another file is found by the search", async () => {
    const store = await storeOf({ "src/auth/login.ts": "", "src/auth/token.ts": LOGIN });
    expect(await check(store, TEXT)).toEqual([]);
  });

  it.each(["// 调用validateToken函数", "a.validateToken(x)", "validateToken"])(
    "is a word of its own: %j has it",
    async (text) => {
      expect(await check(await storeOf({ "a.ts": text }), "validateToken()")).toEqual([]);
    },
  );

  it.each([
    "validateTokens",
    "_validateToken",
    "$validateToken",
    "validateToken2",
    "évalidateToken",
  ])("is a word of its own: %j has it not", async (text) => {
    expect(await check(await storeOf({ "a.ts": text }), "validateToken()")).toHaveLength(1);
  });

  it("may be the name of a file", async () => {
    expect(await check(await storeOf({ "src/user_service.py": "" }), "`user_service`")).toEqual([]);
  });

  it("is spoken of for the named file alone where a search would not see every file, and then there is none", async () => {
    const lacking = ["`validateToken` was not found in `src/auth/login.ts`"];
    const store = await large({ "src/auth/login.ts": "" });
    const get = vi.spyOn(store, "get");
    expect(await check(store, TEXT)).toEqual(lacking);
    expect(get.mock.calls).toEqual([["src/auth/login.ts"]]);
    expect(await check(store, "validateToken()")).toEqual([]);
    const big = await storeOf({ "src/auth/login.ts": "", "big.ts": "x".repeat(200_001) });
    expect(await check(big, TEXT)).toEqual(lacking);
    const small = { budget: { entries: 1, fileBytes: 300_000 } };
    expect(await check(big, TEXT, small)).toEqual(lacking);
    expect(await check(big, "validateToken()", small)).toEqual([]);
  });

  it("is not looked for in what holds no source", async () => {
    const store = await storeOf({
      "src/auth/login.ts": "",
      ".git/objects/ab": LOGIN,
      "logo.png": "x".repeat(300_000),
      "package-lock.json": "x".repeat(300_000),
      "data.bin": new Uint8Array([0xff, 0xfe, 0x00]),
    });
    expect(await check(store, TEXT)).toHaveLength(1);
  });

  it("is looked for below the project alone", async () => {
    const store = await storeOf({ "api/a.ts": "", "other/login.ts": LOGIN });
    const project = "/workspace/app/api";
    expect(await check(store, "validateToken()", { project })).toHaveLength(1);
  });
});

describe("the storage", () => {
  it.each([
    ["head", ["`validateToken` was not found in the workspace"]],
    ["get", [GONE]],
    ["list", []],
  ] as const)("that fails at %s takes away only what it would tell", async (name, left) => {
    const down = () => Promise.reject(new Error("down"));
    const store = { ...(await storeOf({ "src/a.ts": "" })), [name]: down };
    expect(await check(store, TEXT)).toEqual(left);
  });

  it("that fails for one file takes away only what hangs on it", async () => {
    const store = await storeOf({ "src/a.ts": "", "src/b.ts": "" });
    const get = store.get.bind(store);
    store.get = (path) => (path === "src/b.ts" ? Promise.reject(new Error("down")) : get(path));
    expect(await check(store, "src/c.ts has validateToken()")).toEqual([
      "`src/c.ts` is not there any more",
    ]);
  });

  it("is asked for a few named files in all, each once", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `src/f${at}.ts`);
    const store = await large({
      ...Object.fromEntries(names.map((name) => [name, "x"])),
      "src/f0.ts": "x".repeat(200_001),
    });
    const get = vi.spyOn(store, "get");
    const head = vi.spyOn(store, "head");
    const memories = [names.slice(0, 4), names.slice(2, 6), names.slice(4)].map((some, at) => ({
      path: `${at}.md`,
      text: `${some.join(" ")} validateToken()`,
    }));
    const found = await verifyClaims(memories, { store, at: "/w", project: "/w" });
    expect(get.mock.calls.flat()).toEqual(names.slice(1, 6));
    expect(head).not.toHaveBeenCalled();
    const lacking = ["`validateToken` was not found in the files named here"];
    expect([...found.values()]).toEqual([[], lacking, []]);
  });

  it("answers for many paths by one listing, also for what is not there", async () => {
    const store = await storeOf({
      "src/a.ts": "",
      "src/b.ts": "",
      "docs/sites.enabled/y": "",
      "z.ts": "",
    });
    const calls = countCalls(store);
    const text = "src/a.ts src/b.ts src/gone.ts docs/sites.enabled `z.ts`";
    const memories = [text, "src/a.ts other/gone.ts `none.ts`"].map((each, at) => ({
      path: `${at}`,
      text: each,
    }));
    const found = await verifyClaims(memories, { store, at: "/w", project: "/w" });
    expect([...found.values()]).toEqual([
      ["`src/gone.ts` is not there any more"],
      ["`other/gone.ts` is not there any more", "`none.ts` is not there any more"],
    ]);
    expect(calls()).toEqual(["list "]);
  });

  it("is listed below the project, and below the workspace where something is left", async () => {
    const store = await storeOf({ "api/src/a.ts": "", "api/src/b.ts": "", "lib/c.ts": "" });
    const calls = countCalls(store);
    const project = "/workspace/app/api";
    expect(await check(store, "src/a.ts src/b.ts", { project })).toEqual([]);
    expect(calls()).toEqual(["list api/"]);
    expect(await check(store, "src/a.ts lib/c.ts src/d.ts", { project })).toHaveLength(1);
    expect(calls()).toEqual(["list api/", "list "]);
  });

  it("that holds more than a page is listed by folder where a folder has several of the paths", async () => {
    const store = await storeOf({
      ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`a/${at}.ts`, ""])),
      "lib/one.ts": "",
      "src/a.ts": "",
      "src/b.ts": "",
    });
    const list = store.list.bind(store);
    store.list = (query) => list({ ...query, limit: Math.min(query.limit ?? 5, 5) });
    const calls = countCalls(store);
    const text = "a/1.ts src/a.ts src/b.ts lib/one.ts";
    expect(await check(store, text)).toEqual([]);
    expect(calls().toSorted()).toEqual(["head lib/one.ts", "list ", "list src/"]);
    expect(await check(store, "src/a.ts src/c.ts a/8.ts a/9.ts lib/two.ts")).toEqual([
      "`src/c.ts` is not there any more",
      "`a/9.ts` is not there any more",
      "`lib/two.ts` is not there any more",
    ]);
  });

  it("that cannot be listed is asked for each path, and no path is called gone", async () => {
    const store = await storeOf({ "src/a.ts": "", "src/b.ts": "" });
    store.list = () => Promise.reject(new Error("down"));
    const calls = countCalls(store);
    expect(await check(store, "src/a.ts src/b.ts src/c.ts")).toEqual([]);
    expect(calls().filter((call) => call.startsWith("head"))).toHaveLength(3);
  });

  it("is read until every symbol is found, files of a named name first", async () => {
    const files = Array.from({ length: 30 }, (_, at) => [`a/f${at}.ts`, "x"] as const);
    const store = await storeOf({ ...Object.fromEntries(files), "z/login.ts": LOGIN });
    const calls = countCalls(store);
    expect(await check(store, TEXT)).toEqual([GONE]);
    const gets = calls().filter((call) => call.startsWith("get"));
    expect(gets[0]).toBe("get z/login.ts");
    expect(gets.length).toBeLessThanOrEqual(PROBE_BUDGET.concurrency);
  });

  it("is listed and searched once for all memories, page by page, a few files at a time", async () => {
    const files = Array.from({ length: 20 }, (_, at) => `f${String(at).padStart(2, "0")}.ts`);
    const store = await storeOf(Object.fromEntries(files.map((file) => [file, file])));
    const list = store.list.bind(store);
    const lists = vi
      .spyOn(store, "list")
      .mockImplementation((query) => list({ ...query, limit: 7 }));
    const get = store.get.bind(store);
    let running = 0;
    let most = 0;
    const gets = vi.spyOn(store, "get").mockImplementation(async (path) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return get(path);
    });
    const texts = ["`f00.ts` `x.ts` four()", "`f19.ts` `y.ts` five()"];
    const memories = texts.map((text, at) => ({ path: `${at}`, text }));
    const found = await verifyClaims(memories, { store, at: "/w", project: "/w" });
    expect([...found.values()]).toEqual([
      [
        "`x.ts` is not there any more",
        "`four` was not found in `f00.ts` or elsewhere in the workspace",
      ],
      [
        "`y.ts` is not there any more",
        "`five` was not found in `f19.ts` or elsewhere in the workspace",
      ],
    ]);
    expect(gets.mock.calls.flat().toSorted()).toEqual(files);
    expect(lists.mock.calls.filter(([{ prefix }]) => prefix === "")).toHaveLength(3);
    expect(most).toBe(PROBE_BUDGET.concurrency);
  });

  it("may hide a symbol in a named file that was not opened and lies outside the project", async () => {
    const store = await storeOf({ "api/a.ts": "", "lib/big.ts": "x".repeat(200_001) });
    const project = "/workspace/app/api";
    expect(await check(store, "lib/big.ts has validateToken()", { project })).toEqual([]);
  });

  it("is not asked about a project that lies elsewhere", async () => {
    expect(await check(await storeOf({}), TEXT, { project: "/home/ann/app" })).toBeUndefined();
  });
});

/** The calls to a store since the last look. */
function countCalls(store: FileStore): () => string[] {
  const calls: string[] = [];
  const { head, get, list } = store;
  store.head = (path) => {
    calls.push(`head ${path}`);
    return head(path);
  };
  store.get = (path) => {
    calls.push(`get ${path}`);
    return get(path);
  };
  store.list = (query) => {
    calls.push(`list ${query.prefix}`);
    return list(query);
  };
  return () => calls.splice(0);
}
