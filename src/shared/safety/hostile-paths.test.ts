import { describe, expect, it } from "vitest";
import { hostilePaths, readings, relativeHostilePaths } from "../../../test/hostile-paths.ts";
import { createMapStore } from "../files/map-store.ts";
import { createMounts } from "../files/mounts.ts";
import { HOME, memoryPath } from "../settings/memory-path.ts";
import { sandboxDirectory, sandboxFile } from "../tools/sandbox.ts";
import { canonicalPath, canonicalRelative } from "./path.ts";

const ROOT = "/workspace/attack";
const MEMORY = "/memory/projects/attack-abc/memory";
const ABSOLUTE = hostilePaths([ROOT, MEMORY]);
const RELATIVE = relativeHostilePaths();
const RULE = /^[a-z_]+$/;

const mounts = createMounts(
  [ROOT, MEMORY].map((at) => ({
    at,
    store: createMapStore(() => 0),
    rights: "write",
    maxFileBytes: 1000,
    label: "files",
  })),
);

describe(`the hostile paths (${ABSOLUTE.length} absolute, ${RELATIVE.length} relative)`, () => {
  it("are at least a thousand different ones of each sort", () => {
    expect(new Set(ABSOLUTE.map((path) => path.raw)).size).toBeGreaterThanOrEqual(1000);
    expect(new Set(RELATIVE.map((path) => path.raw)).size).toBeGreaterThanOrEqual(1000);
  });

  it("are refused by a named rule, or stay below the root however they are read later", () => {
    const escapes = RELATIVE.filter(({ raw }) => {
      const result = canonicalRelative(raw);
      if (result.status === "refused") return !isNamed(result);
      return asWritten(raw) !== result.path || !staysIn(`${ROOT}/${result.path}`, ROOT);
    });
    expect(escapes).toEqual([]);
  });

  it("are one canonical path, or refused by a named rule, where they are absolute", () => {
    const wrong = ABSOLUTE.filter(({ raw }) => {
      const result = canonicalPath(raw);
      if (result.status === "refused") return !isNamed(result);
      if (`/${asWritten(raw)}` !== result.path) return true;
      return ![...readings(result.path)].every((path) => isInside(topOf(result.path), path));
    });
    expect(wrong).toEqual([]);
  });

  it("reach no file and no directory outside the mounts through the tools' sandbox", () => {
    const escapes = ABSOLUTE.filter(({ raw }) => {
      const file = sandboxFile(mounts, raw, "write");
      if (file.status === "refused") return !/^Refused: .{10}/.test(file.message);
      return !staysIn(file.path, file.mount.at);
    });
    expect(escapes).toEqual([]);
    const searched = ABSOLUTE.filter(({ raw }) => {
      const directory = sandboxDirectory(mounts, raw);
      if (directory.status === "refused") return false;
      // Above mounts is harmless: only what is mounted there is looked at.
      return mounts.resolve(directory.path).status === "outside";
    });
    expect(searched).toEqual([]);
  });

  it("never make a memory directory of a reserved or near-root place", () => {
    const reserved = ["/etc/claude-code", "/workspace", `${HOME}/.claude`];
    const wrong = [...ABSOLUTE, ...RELATIVE].filter(({ raw }) => {
      const result = memoryPath(raw);
      if (result.status === "refused") return !isNamed(result);
      const places = [...readings(result.path)];
      return !places.every(
        (path) =>
          path.split("/").length > 2 &&
          (raw.startsWith("~") ? path.startsWith(`${HOME}/`) : true) &&
          !reserved.some((place) => isInside(place, path)),
      );
    });
    expect(wrong).toEqual([]);
  });

  it("are known to the oracle as escapes where nobody refuses them", () => {
    // An oracle that finds nothing would prove nothing.
    const naive = RELATIVE.filter(({ raw }) => !staysIn(`${ROOT}/${raw}`, ROOT));
    expect(naive.length).toBeGreaterThan(600);
  });
});

/** What is accepted names the file that was written down: nothing is taken back or clamped. */
function asWritten(raw: string): string {
  const parts = raw.normalize("NFC").split("/");
  return parts.filter((part) => part !== "" && part !== ".").join("/");
}

/** Not the one of `path.ts`, which is under test too. */
function isInside(root: string, path: string): boolean {
  return `${path}/`.startsWith(`${root}/`);
}

function staysIn(path: string, root: string): boolean {
  return [...readings(path)].every((reading) => isInside(root, reading) && reading !== root);
}

function topOf(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end);
}

function isNamed(refusal: { rule: string; message: string }): boolean {
  return RULE.test(refusal.rule) && /^Cannot use path ".*": .+/.test(refusal.message);
}
