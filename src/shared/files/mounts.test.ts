import { describe, expect, it } from "vitest";
import { createMapStore } from "./map-store.ts";
import { absolutePath, createMounts, listFiles, type Mount, type Mounts } from "./mounts.ts";

const BYTES = new TextEncoder().encode("x");

async function mountAt(at: string, paths: string[] = []): Promise<Mount> {
  const store = createMapStore(() => 0);
  for (const path of paths) await store.put(path, BYTES);
  return { at, store, rights: "write", maxFileBytes: 1000, label: at };
}

async function pathsBelow(mounts: Mounts, dir: string, limit = 100): Promise<string[]> {
  const paths: string[] = [];
  for await (const file of listFiles(mounts, dir, limit)) {
    expect(absolutePath(file.mount, file.relative)).toBe(file.path);
    expect(await file.mount.store.head(file.relative)).toEqual(file.entry);
    paths.push(file.path);
  }
  return paths;
}

describe("resolve", () => {
  it("gives a path to the longest mount that holds it", async () => {
    const [outer, inner] = [await mountAt("/w/app"), await mountAt("/w/app/memory")];
    const mounts = createMounts([inner, outer]);
    expect(mounts.resolve("/w/app/a.md")).toEqual({
      status: "mounted",
      mount: outer,
      relative: "a.md",
    });
    expect(mounts.resolve("/w/app/memory/d/b")).toMatchObject({ mount: inner, relative: "d/b" });
    expect(mounts.resolve("/w/app/memory")).toMatchObject({ mount: inner, relative: "" });
    expect(mounts.resolve("/w/app")).toMatchObject({ mount: outer, relative: "" });
    expect(mounts.resolve("/w/app/memory-old/b")).toMatchObject({ mount: outer });
  });

  it("keeps siblings and strangers outside and names the roots", async () => {
    const mounts = createMounts([await mountAt("/w/app"), await mountAt("/memory")]);
    const roots = ["/memory", "/w/app"];
    for (const path of ["/memory-evil/x", "/w/app2", "/etc"]) {
      expect(mounts.resolve(path)).toEqual({ status: "outside", roots });
    }
  });

  it("knows what lies above mounts", async () => {
    const [app, memory] = [await mountAt("/w/app"), await mountAt("/memory")];
    const mounts = createMounts([app, memory]);
    expect(mounts.resolve("/w")).toEqual({ status: "above", mounts: [app] });
    expect(mounts.resolve("/")).toEqual({ status: "above", mounts: [memory, app] });
    expect(createMounts([]).resolve("/")).toEqual({ status: "outside", roots: [] });
  });

  it("works with a mount at the root", async () => {
    const mounts = createMounts([await mountAt("/", ["a/b"])]);
    expect(mounts.resolve("/a/b")).toMatchObject({ status: "mounted", relative: "a/b" });
    expect(await pathsBelow(mounts, "/a")).toEqual(["/a/b"]);
  });

  it.each(["w", "/w/", "/w/../x", "/w//x"])("refuses a mount at %j", async (at) => {
    const mount = await mountAt(at);
    expect(() => createMounts([mount])).toThrow();
  });

  it("refuses two mounts at one place", async () => {
    const pair = [await mountAt("/w"), await mountAt("/w")];
    expect(() => createMounts(pair)).toThrow();
  });
});

describe("listFiles", () => {
  it("goes across mounts, and an inner mount shadows the outer one", async () => {
    const mounts = createMounts([
      await mountAt("/w/app", ["a", "memory", "memory/hidden", "memory-old/b"]),
      await mountAt("/w/app/memory", ["seen", "d/c"]),
      await mountAt("/x", ["y"]),
    ]);
    const app = ["/w/app/a", "/w/app/memory-old/b", "/w/app/memory/d/c", "/w/app/memory/seen"];
    expect(await pathsBelow(mounts, "/")).toEqual([...app, "/x/y"]);
    expect(await pathsBelow(mounts, "/w/app")).toEqual(app);
    expect(await pathsBelow(mounts, "/w/app/memory")).toEqual(app.slice(2));
    expect(await pathsBelow(mounts, "/w/app/memory/d")).toEqual(["/w/app/memory/d/c"]);
    expect(await pathsBelow(mounts, "/nowhere")).toEqual([]);
  });

  it("stops at its limit, over pages of the store", async () => {
    const paths = Array.from({ length: 1500 }, (_, i) => `d/${String(i).padStart(4, "0")}`);
    const mounts = createMounts([await mountAt("/m", paths)]);
    expect(await pathsBelow(mounts, "/m", 2000)).toHaveLength(1500);
    expect(await pathsBelow(mounts, "/m", 3)).toEqual(["/m/d/0000", "/m/d/0001", "/m/d/0002"]);
  });
});
