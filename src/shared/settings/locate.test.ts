import { describe, expect, it } from "vitest";
import { locateMemory, type PlaceInput } from "./locate.ts";
import { projectSlug } from "./slug.ts";

const ROOT = "/workspace/app";

function locate(input: Partial<PlaceInput> = {}) {
  return locateMemory({
    variables: { REMOTE_MEMORY_DIR: "/memory" },
    bare: false,
    settings: {},
    git: { root: ROOT },
    ignored: [],
    ...input,
  });
}

const at = (autoMemoryDirectory: string) => ({ autoMemoryDirectory });

describe("where memory lies", () => {
  it("by default below the base, by the slug of the git root", async () => {
    const slug = await projectSlug(ROOT);
    expect(await locate()).toEqual({
      enabled: true,
      rule: "default",
      directory: `/memory/projects/${slug}/memory`,
      slug,
      root: ROOT,
      source: "default",
      ignored: [],
    });
  });

  it("is the same directory for every spelling of the base", async () => {
    const directories = await Promise.all(
      ["/mnt/mem", "/mnt/mem/", "/mnt//./mem"].map(async (base) =>
        directoryOf(await locate({ variables: { REMOTE_MEMORY_DIR: base } })),
      ),
    );
    expect(new Set(directories).size).toBe(1);
  });

  it("PATH-06: policy beats local beats user", async () => {
    const layers = { policy: at("/data/policy"), local: at("/data/local"), user: at("~/mem") };
    expect(await locate({ settings: layers })).toMatchObject({
      directory: "/data/policy",
      source: "settings",
    });
    const { policy: _, ...mine } = layers;
    expect(await locate({ settings: mine })).toMatchObject({ directory: "/data/local" });
    expect(await locate({ settings: { user: layers.user } })).toMatchObject({
      directory: "/home/mem",
    });
  });

  it("PATH-06: the override beats all settings", async () => {
    const variables = { REMOTE_MEMORY_DIR: "/memory", MEMORY_PATH_OVERRIDE: "/over/ride/" };
    expect(await locate({ variables, settings: { policy: at("/data/policy") } })).toMatchObject({
      directory: "/over/ride",
      source: "override",
      ignored: [],
    });
  });

  it("PATH-06: a project never chooses it, and is told so", async () => {
    expect(await locate({ settings: { project: at("/home/u/.ssh") } })).toMatchObject({
      directory: `/memory/projects/${await projectSlug(ROOT)}/memory`,
      source: "default",
      ignored: [
        {
          source: "project",
          key: "autoMemoryDirectory",
          reason: expect.stringContaining("repository"),
        },
      ],
    });
  });

  it("PATH-06: a refused value is listed with its rule, and the next source is tried", async () => {
    const variables = { REMOTE_MEMORY_DIR: "/memory", MEMORY_PATH_OVERRIDE: "/a" };
    const settings = {
      policy: at("C:\\mem"),
      local: at("./.claude/memory"),
      user: at("/data/mem"),
    };
    expect(await locate({ variables, settings })).toMatchObject({
      directory: "/data/mem",
      source: "settings",
      ignored: [
        {
          source: "environment",
          key: "MEMORY_PATH_OVERRIDE",
          reason: expect.stringMatching(/^near_root: /),
        },
        { source: "policy", key: "autoMemoryDirectory", reason: expect.stringMatching(/^drive: /) },
        {
          source: "local",
          key: "autoMemoryDirectory",
          reason: expect.stringMatching(/^relative: /),
        },
      ],
    });
    expect(await locate({ settings: { user: at("//srv/share") } })).toMatchObject({
      source: "default",
      ignored: [{ source: "user", reason: expect.stringMatching(/^unc: /) }],
    });
  });

  it("PATH-01, PATH-02: different roots never share a directory", async () => {
    const roots = [
      "/srv/acme/test-project",
      "/srv/acme/test/project",
      "/srv/项目甲",
      "/srv/测试乙",
      "/srv/été",
      "/srv/étè",
      "/srv/App",
      "/srv/app",
    ];
    const places = await Promise.all(roots.map((root) => locate({ git: { root } })));
    const directories = places.map((place) => directoryOf(place));
    expect(new Set(directories.map((path) => path?.toLowerCase())).size).toBe(roots.length);
  });

  it("a pointer that was not followed is listed", async () => {
    expect(await locate({ git: { root: ROOT, diagnostic: "the .git file …" } })).toMatchObject({
      ignored: [{ source: "git", key: ".git", reason: "the .git file …" }],
    });
  });
});

describe("no place", () => {
  it("off is off, and what was ignored is still listed", async () => {
    const ignored = [{ source: "user", key: "settings.json", reason: "x" }] as const;
    const settings = { policy: { autoMemoryEnabled: false }, project: at("/data/x") };
    expect(await locate({ settings, ignored })).toEqual({
      enabled: false,
      rule: "autoMemoryEnabled is false in the policy settings",
      ignored: [...ignored, expect.objectContaining({ source: "project" })],
    });
  });

  it("a project that asks for what its user turned off is told so", async () => {
    const settings = { project: { autoMemoryEnabled: true }, user: { autoMemoryEnabled: false } };
    expect(await locate({ settings })).toMatchObject({
      enabled: false,
      ignored: [{ source: "project", key: "autoMemoryEnabled" }],
    });
    expect(await locate({ settings: { project: { autoMemoryEnabled: true } } })).toMatchObject({
      enabled: true,
      ignored: [],
    });
  });

  it.each([
    ["/", "near_root"],
    ["mem", "relative"],
    ["/workspace/x", "reserved"],
    ["~", "home"],
    ["//srv/share", "unc"],
  ])("a base %j that is refused turns memory off, by its rule %s", async (base, rule) => {
    expect(await locate({ variables: { REMOTE_MEMORY_DIR: base } })).toMatchObject({
      enabled: false,
      rule: `REMOTE_MEMORY_DIR is refused: ${rule}`,
    });
  });

  it("ENABLE-02: DISABLE_AUTO_MEMORY=0 alone makes no directory; an override or trusted settings do", async () => {
    const variables = { DISABLE_AUTO_MEMORY: "0" };
    expect(await locate({ variables })).toEqual({
      enabled: false,
      rule: "REMOTE_MEMORY_DIR is not set",
      ignored: [],
    });
    expect(await locate({ variables, settings: { project: at("/data/mem") } })).toMatchObject({
      enabled: false,
    });
    expect(await locate({ variables, settings: { user: at("/data/mem") } })).toMatchObject({
      enabled: true,
      rule: "DISABLE_AUTO_MEMORY is falsy",
      directory: "/data/mem",
    });
    const overridden = { ...variables, MEMORY_PATH_OVERRIDE: "/data/mem" };
    expect(await locate({ variables: overridden, bare: true })).toMatchObject({ enabled: true });
  });

  it("ENABLE-02: an override does not stand in for REMOTE_MEMORY_DIR", async () => {
    expect(await locate({ variables: { MEMORY_PATH_OVERRIDE: "/data/mem" } })).toMatchObject({
      enabled: false,
      rule: "REMOTE_MEMORY_DIR is not set",
    });
  });
});

function directoryOf(place: Awaited<ReturnType<typeof locateMemory>>): string | undefined {
  return place.enabled ? place.directory : undefined;
}
