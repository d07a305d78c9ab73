import { describe, expect, test } from "vitest";
import { NO_BACKGROUND, sharedService, startTestService } from "./service.ts";

const service = await sharedService();

interface Caller {
  org?: string;
  user?: string;
  role?: "member" | "admin";
}

async function call(method: string, path: string, as: Caller, init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${await service.token(as)}`);
  return fetch(`${service.url}${path}`, { ...init, method, headers });
}

const put = (layer: string, as: Caller, value: unknown, headers: Record<string, string> = {}) =>
  call("PUT", `/v1/settings/${layer}`, as, { body: JSON.stringify(value), headers });
const get = (layer: string, as: Caller, headers: Record<string, string> = {}) =>
  call("GET", `/v1/settings/${layer}`, as, { headers });

/** The `auto_memory` of a new session. */
async function memoryOf(as: Caller, fields: object = {}, from = service): Promise<unknown> {
  const response = await fetch(`${from.url}/v1/sessions`, {
    method: "POST",
    headers: { authorization: `Bearer ${await from.token(as)}` },
    body: JSON.stringify({ agent: "default", environment_id: "w", ...fields }),
  });
  const body: unknown = await response.json();
  expect([response.status, body]).toEqual([200, expect.anything()]);
  return Reflect.get(Object(body), "auto_memory");
}

async function errorOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error: { message: string } };
  return `${response.status} ${body.error.message}`;
}

describe("the settings endpoints", () => {
  test("without settings there is {} and no ETag", async () => {
    for (const layer of ["user", "managed"]) {
      const response = await get(layer, { org: "fresh" });
      expect([response.status, await response.json(), response.headers.get("etag")]).toEqual([
        200,
        {},
        null,
      ]);
    }
  });

  test("what is put is got, unknown keys too, and changed on condition only", async () => {
    const ann = { org: "one" };
    const first = { autoMemoryEnabled: true, theme: { dark: [1, null] } };
    const made = await put("user", ann, first, { "if-none-match": "*" });
    const etag = made.headers.get("etag") ?? "";
    expect([made.status, await made.json()]).toEqual([200, first]);
    expect(etag).toMatch(/^"[^"]+"$/);
    const read = await get("user", ann);
    expect([read.headers.get("etag"), read.headers.get("content-type")]).toEqual([
      etag,
      "application/json",
    ]);
    expect(await read.json()).toEqual(first);
    expect((await get("user", ann, { "if-none-match": etag })).status).toBe(304);

    expect((await put("user", ann, {}, { "if-none-match": "*" })).status).toBe(412);
    const changed = await put("user", ann, { a: 1 }, { "if-match": `W/${etag}` });
    expect(changed.status).toBe(200);
    expect(await errorOf(await put("user", ann, { a: 2 }, { "if-match": etag }))).toMatch(
      /^412 .*Read them again/,
    );
    expect(await errorOf(await put("user", ann, {}, { "if-match": "*" }))).toMatch(/^400 If-Match/);
    expect(await (await get("user", ann)).json()).toEqual({ a: 1 });
    expect((await put("user", ann, { a: 3 })).status).toBe(200);
  });

  test.each([
    [{ autoMemoryEnabled: "yes" }, /^400 autoMemoryEnabled: must be true or false/],
    [{ autoMemoryDirectory: 1 }, /^400 autoMemoryDirectory: must be a path/],
    [{ privateSecretScan: "off" }, /^400 privateSecretScan: must be "refuse" or "warn"/],
    [{ autoMemoryEnabled: "False" }, /^400 autoMemoryEnabled: must be true or false/],
    [
      { AutoMemoryEnabled: false },
      /^400 AutoMemoryEnabled: is no setting; write autoMemoryEnabled/,
    ],
    [{ time_zone: "Berlin" }, /^400 time_zone: must be an IANA name, such as "Europe\/Berlin"/],
    [[], /^400 .*JSON object/],
    [null, /^400 .*JSON object/],
    [{ a: "x".repeat(1_000_001) }, /^413 /],
  ])(
    "a body that does not fit is refused and names the key, and nothing is stored (%#)",
    async (value, says) => {
      const ann = { org: "bad" };
      await put("user", ann, { kept: true });
      expect(await errorOf(await put("user", ann, value))).toMatch(says);
      expect(await (await get("user", ann)).json()).toEqual({ kept: true });
    },
  );

  test("managed settings are read by everybody of the tenant and set by its admins", async () => {
    const admin: Caller = { org: "firm", user: "eve", role: "admin" };
    const member = { org: "firm", user: "ann" };
    expect(await errorOf(await put("managed", member, {}))).toMatch(/^403 .*admin/);
    // A wrong body must not tell more than a right one.
    expect((await put("managed", member, "x")).status).toBe(403);
    expect((await put("managed", admin, { autoMemoryEnabled: false })).status).toBe(200);
    expect(await (await get("managed", member)).json()).toEqual({ autoMemoryEnabled: false });
    expect(await (await get("managed", { org: "firm2", role: "admin" })).json()).toEqual({});
  });

  test("one user's settings are nobody else's, admin or not", async () => {
    await put("user", { org: "own", user: "ann" }, { mine: 1 });
    for (const as of [
      { org: "own", user: "bob", role: "admin" },
      { org: "own2", user: "ann" },
    ] as const) {
      expect(await (await get("user", as)).json()).toEqual({});
    }
  });

  test("without a token there is nothing, and there are no other layers", async () => {
    expect((await fetch(`${service.url}/v1/settings/user`)).status).toBe(401);
    for (const path of ["project", "user/..", "managed/x", ""]) {
      expect((await call("GET", `/v1/settings/${path}`, {})).status).toBe(404);
    }
    expect((await call("DELETE", "/v1/settings/user", {})).status).toBe(404);
  });
});

describe("a session's state", () => {
  const file = (as: Caller, path: string, value: unknown) =>
    call("PUT", `/v1/workspaces/w/files/${path}`, as, {
      body: typeof value === "string" ? value : JSON.stringify(value),
    });

  test("names the rule, the directory and what was ignored, layer over layer", async () => {
    const ann: Caller = { org: "chain", user: "ann", role: "admin" };
    expect(await memoryOf(ann)).toMatchObject({
      enabled: true,
      rule: "default",
      directory: expect.stringMatching(/^\/memory\/projects\/workspace-w-[a-z2-7]{24}\/memory$/),
      ignored: [],
    });
    await put("user", ann, { autoMemoryDirectory: "~/mem" });
    expect(await memoryOf(ann)).toMatchObject({ directory: "/home/mem" });

    await file(ann, ".claude/settings.json", {
      autoMemoryDirectory: "/home/u/.ssh",
      autoMemoryEnabled: false,
    });
    expect(await memoryOf(ann)).toMatchObject({
      enabled: false,
      rule: "autoMemoryEnabled is false in the project settings",
      directory: null,
      ignored: [{ source: "project", key: "autoMemoryDirectory", reason: expect.any(String) }],
    });
    await file(ann, ".claude/settings.local.json", {
      autoMemoryEnabled: true,
      autoMemoryDirectory: "./mem",
    });
    expect(await memoryOf(ann)).toMatchObject({
      enabled: true,
      rule: "autoMemoryEnabled is true in the local settings",
      directory: "/home/mem",
      ignored: [
        { source: "project", key: "autoMemoryDirectory" },
        {
          source: "local",
          key: "autoMemoryDirectory",
          reason: expect.stringMatching(/^relative: /),
        },
      ],
    });
    await put("managed", ann, { autoMemoryDirectory: "/data/policy", autoMemoryEnabled: false });
    expect(await memoryOf(ann)).toMatchObject({
      rule: "autoMemoryEnabled is false in the policy settings",
    });
    await put("managed", ann, { autoMemoryDirectory: "/data/policy" });
    expect(await memoryOf(ann)).toMatchObject({ directory: "/data/policy" });
    expect(await memoryOf(ann, { metadata: { bare: "true" } })).toMatchObject({
      enabled: false,
      rule: "the session is bare",
    });
  });

  test("TRUTH-04: a file that nobody can read may have said no, and is named", async () => {
    const ann = { org: "broken" };
    await file(ann, ".claude/settings.local.json", "{ nope");
    expect(await memoryOf(ann)).toMatchObject({
      enabled: false,
      rule: "what the local settings say of auto memory cannot be read, so it is off",
      ignored: [
        {
          source: "local",
          key: "settings.local.json",
          reason: expect.stringMatching(/not valid JSON/),
        },
      ],
    });
  });

  test("all worktrees of a repository have one directory, other projects their own", async () => {
    const ann = { org: "trees" };
    await file(ann, "app/.git/HEAD", "ref: refs/heads/main\n");
    await file(ann, "wt/.git", "gitdir: ../app/.git/worktrees/wt\n");
    await file(ann, "evil/.git", "gitdir: ../../../u/bob/.git/worktrees/x\n");
    const of = async (project_root: string) => memoryOf(ann, { metadata: { project_root } });
    const main = await of("/workspace/w/app");
    expect(await of("/workspace/w/wt")).toEqual(main);
    expect(await of("/workspace/w/app/src")).toEqual(main);
    expect(await of("/workspace/w/evil")).toMatchObject({ ignored: [{ source: "git" }] });
    const paths = ["app", "wt", "evil", "app-x"];
    const places = await Promise.all(paths.map((path) => of(`/workspace/w/${path}`)));
    expect(new Set(places.map((place) => Reflect.get(Object(place), "directory"))).size).toBe(3);
  });
});

test("a session's memory follows the variables of the deployment", async () => {
  const own = await startTestService({
    ...NO_BACKGROUND,
    MEMORY_PATH_OVERRIDE: "/over/ride",
    DISABLE_AUTO_MEMORY: "off",
  });
  try {
    expect(await memoryOf({}, { metadata: { bare: "true" } }, own)).toMatchObject({
      enabled: true,
      rule: "DISABLE_AUTO_MEMORY is falsy",
      directory: "/over/ride",
    });
  } finally {
    await own.close();
  }
});
