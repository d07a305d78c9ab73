// Settings and place of a session, from the real bucket.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import { createFaultyBucket } from "../../../test/contract/faulty-bucket.ts";
import type { MemoryVariables } from "../../shared/settings/locate.ts";
import { enabledNow, ownSecretsRule, ownTimeZone, placeFor } from "./settings-files.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      FILES: R2Bucket;
    }
  }
}

const VARIABLES = { REMOTE_MEMORY_DIR: "/memory" };

/** A tenant of its own, so that nothing depends on storage being emptied between tests. */
function setUp(environmentId = "w") {
  const tenant = `t-${crypto.randomUUID()}`;
  const owner = { tenant, user: "ann", role: "member" } as const;
  const own = `t/${tenant}/u/ann`;
  const workspace = environmentId.startsWith("shared-") ? `t/${tenant}` : own;
  const session = { environmentId, projectRoot: `/workspace/${environmentId}/app`, bare: false };
  const put = (key: string, value: unknown) =>
    env.FILES.put(key, typeof value === "string" ? value : JSON.stringify(value));
  return {
    owner,
    session,
    put,
    managed: `t/${tenant}/managed/settings.json`,
    user: `${own}/home/.claude/settings.json`,
    project: `${workspace}/w/${environmentId}/app/.claude/settings.json`,
    local: `${own}/w/${environmentId}/app/.claude/settings.local.json`,
    workspace: `${workspace}/w/${environmentId}/`,
    place: (variables = VARIABLES, bucket: R2Bucket = env.FILES) =>
      placeFor(bucket, owner, session, variables),
  };
}

for (const id of ["w", "shared-w"]) {
  test(`in workspace ${id} each layer is read from where it lies, and the stronger one wins`, async () => {
    const at = setUp(id);
    expect(await at.place()).toMatchObject({ enabled: true, source: "default", ignored: [] });
    await at.put(at.user, { autoMemoryDirectory: "~/mem", autoMemoryEnabled: true });
    expect(await at.place()).toMatchObject({ directory: "/home/mem", source: "settings" });
    await at.put(at.project, { autoMemoryDirectory: "/data/evil", autoMemoryEnabled: false });
    expect(await at.place()).toEqual({
      enabled: false,
      rule: "autoMemoryEnabled is false in the project settings",
      ignored: [expect.objectContaining({ source: "project", key: "autoMemoryDirectory" })],
    });
    await at.put(at.local, { autoMemoryDirectory: "/data/local", autoMemoryEnabled: true });
    expect(await at.place()).toMatchObject({
      rule: "autoMemoryEnabled is true in the local settings",
      directory: "/data/local",
    });
    await at.put(at.managed, { autoMemoryDirectory: "/data/policy" });
    expect(await at.place()).toMatchObject({ directory: "/data/policy" });
    await at.put(at.managed, { autoMemoryEnabled: false });
    expect(await at.place()).toMatchObject({
      enabled: false,
      rule: expect.stringContaining("policy"),
    });
  });
}

test("in a shared workspace one person's local settings are nobody else's", async () => {
  const at = setUp("shared-w");
  await at.put(at.local, { autoMemoryEnabled: false });
  expect(await at.place()).toMatchObject({ enabled: false });
  const bob = { ...at.owner, user: "bob" };
  expect(await placeFor(env.FILES, bob, at.session, VARIABLES)).toMatchObject({ enabled: true });
});

test("settings of another tenant, user or workspace are never read", async () => {
  const at = setUp();
  const off = { autoMemoryEnabled: false };
  for (const key of [at.managed, at.user, at.project, at.local]) {
    await at.put(key.replace(at.owner.tenant, `${at.owner.tenant}x`), off);
    if (key.includes("/u/ann/")) await at.put(key.replace("/u/ann/", "/u/bob/"), off);
  }
  await at.put(at.project.replace("/w/w/", "/w/w2/"), off);
  await at.put(at.project.replace("/app/", "/app-evil/"), off);
  expect(await at.place()).toMatchObject({ enabled: true, rule: "default", ignored: [] });
});

test("TRUTH-04: what cannot be used counts as the strictest that it may have meant, and says so", async () => {
  const at = setUp();
  await at.put(at.user, { autoMemoryEnabled: "no", autoMemoryDirectory: "/data/user" });
  expect(await at.place()).toEqual({
    enabled: false,
    rule: "what the user settings say of auto memory cannot be read, so it is off",
    ignored: [{ source: "user", key: "autoMemoryEnabled", reason: "must be true or false" }],
  });
  await at.put(at.managed, { autoMemoryEnabled: true, privateSecretScan: "of" });
  expect(await at.place()).toMatchObject({
    enabled: true,
    directory: "/data/user",
    secrets: "refuse",
    ignored: [{ source: "policy", key: "privateSecretScan" }, { source: "user" }],
  });
  await at.put(at.managed, "{");
  await env.FILES.put(at.local, new Uint8Array([0xff, 0xfe]));
  expect(await at.place()).toMatchObject({
    enabled: false,
    rule: expect.stringContaining("policy settings"),
    ignored: [
      { source: "local", key: "settings.local.json", reason: expect.stringMatching(/UTF-8/) },
      { source: "policy", key: "settings.json", reason: expect.stringMatching(/not valid JSON/) },
      { source: "user", key: "autoMemoryEnabled" },
    ],
  });
  await at.put(at.user, { privateSecretScan: "warn" });
  expect(await ownSecretsRule(env.FILES, at.owner)).toBe("refuse");
});

test("a storage that fails is no answer: neither settings nor a directory are guessed", async () => {
  const at = setUp();
  await at.put(at.user, { autoMemoryEnabled: false, time_zone: "Asia/Tokyo" });
  expect(await ownTimeZone(env.FILES, at.owner)).toBe("Asia/Tokyo");
  const error = new Error("get: Unauthorized (10002)");
  const failing = (operation: "get" | "head") =>
    createFaultyBucket(env.FILES, {
      fail: Array.from({ length: 100 }, (_, n) => ({ operation, nth: n + 1, error })),
    });
  const unavailable = { code: "unavailable" };
  await expect(at.place(VARIABLES, failing("get"))).rejects.toMatchObject(unavailable);
  await expect(ownSecretsRule(failing("get"), at.owner)).rejects.toMatchObject(unavailable);
  await expect(ownTimeZone(failing("get"), at.owner)).rejects.toMatchObject(unavailable);
  await expect(at.place(VARIABLES, failing("head"))).rejects.toMatchObject(unavailable);
});

test("ENABLE-04: whether memory is on is asked anew, by the same chain", async () => {
  const at = setUp();
  const now = (variables: MemoryVariables = VARIABLES) =>
    enabledNow(env.FILES, at.owner, at.session, variables);
  expect(await now()).toEqual({ enabled: true, rule: "default" });
  await at.put(at.project, { autoMemoryEnabled: false, memoryPolicy: "always" });
  expect(await now()).toEqual({
    enabled: false,
    rule: "autoMemoryEnabled is false in the project settings",
  });
  expect(await now({ ...VARIABLES, DISABLE_AUTO_MEMORY: "0" })).toMatchObject({ enabled: true });
});

test("PATH-05: all worktrees share the memory of their main folder; a hostile pointer gets its own", async () => {
  const at = setUp();
  const of = (projectRoot: string) =>
    placeFor(env.FILES, at.owner, { ...at.session, projectRoot }, VARIABLES);
  await at.put(`${at.workspace}app/.git/HEAD`, "ref: refs/heads/main\n");
  await at.put(`${at.workspace}trees/one/.git`, "gitdir: ../../app/.git/worktrees/one\r\n");
  await at.put(
    `${at.workspace}trees/evil/.git`,
    "gitdir: ../../../../bob/w/w/app/.git/worktrees/x\n",
  );
  const [main, one, evil] = await Promise.all(
    ["app", "trees/one", "trees/evil"].map((folder) => of(`/workspace/w/${folder}`)),
  );
  expect(one).toEqual(main);
  expect(evil).toMatchObject({
    root: "/workspace/w/trees/evil",
    ignored: [{ source: "git", key: ".git", reason: expect.stringMatching(/project of its own/) }],
  });
});

test("what variables turn off costs no storage call", async () => {
  const at = setUp();
  const bucket = createFaultyBucket(env.FILES);
  for (const variables of [
    { ...VARIABLES, DISABLE_AUTO_MEMORY: "1" },
    { ...VARIABLES, SIMPLE: "true" },
    { REMOTE_MEMORY_DIR: undefined },
  ]) {
    const place = await placeFor(bucket, at.owner, at.session, variables);
    expect(place.enabled).toBe(false);
  }
  const bare = await placeFor(bucket, at.owner, { ...at.session, bare: true }, VARIABLES);
  expect(bare).toEqual({ enabled: false, rule: "the session is bare", ignored: [] });
  expect(Object.values(bucket.calls).reduce((sum, count) => sum + count, 0)).toBe(0);
});
