// The rules of the layers, read from the imports.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** Imports run from a later line to an earlier one, or stay within a folder. */
const ORDER = [
  ["src/shared/limits.ts", "src/shared/errors.ts", "src/shared/text.ts"],
  ["src/shared/safety", "src/shared/query"],
  ["src/shared/settings"],
  ["src/shared/files", "src/shared/compaction"],
  ["src/shared/memdir", "src/shared/instructions", "src/shared/tools", "src/shared/team"],
  ["src/shared/recall", "src/shared/fork", "src/shared/agent-memory"],
  ["src/shared/notes", "src/shared/extraction", "src/shared/dream"],
  ["src/shared/turn"],
  ["src/platform"],
  ["workers/env.ts"],
  ["workers/agent", "workers/sync", "workers/dream"],
  ["workers/main.ts"],
];

const FORBIDDEN_IN_CORE = [
  /from "cloudflare:/,
  /@anthropic-ai\/sdk/,
  /\bDate\.now\b/,
  /\bMath\.random\b/,
  /\bfetch\(/,
  /\bnew Date\(\)/,
  /\bcrypto\.(getRandomValues|randomUUID)\b/,
];

const files = ["src", "workers"].flatMap((folder) => sources(join(root, folder)));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

test("every file belongs to a layer", () => {
  expect(files.filter((file) => layerOf(file) === undefined)).toEqual([]);
});

test("no import points upwards, and no worker imports another", () => {
  const wrong: string[] = [];
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const from = layerOf(file);
      const to = layerOf(target);
      const same = from?.folder === to?.folder;
      if (from && to && !same && to.level >= from.level) wrong.push(`${file} -> ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("there is no circle", () => {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
    if (done.has(file) || path.includes(file)) return;
    for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test("the core names no platform, no clock, no chance and no network", () => {
  const wrong = files
    .filter((file) => file.startsWith("src/shared/"))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8").replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "");
      return FORBIDDEN_IN_CORE.filter((rule) => rule.test(text)).map((rule) => `${file}: ${rule}`);
    });
  expect(wrong).toEqual([]);
});

test("nothing that is deployed imports the stand-in model or a tool of development", () => {
  const wrong = [...imports].filter(([, targets]) =>
    targets.some((target) => target.startsWith("dev/") || target.startsWith("test/")),
  );
  expect(wrong).toEqual([]);
});

function layerOf(file: string): { level: number; folder: string } | undefined {
  for (const [level, folders] of ORDER.entries()) {
    const folder = folders.find((name) => file === name || file.startsWith(`${name}/`));
    if (folder) return { level, folder };
  }
  return undefined;
}

function sources(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sources(path);
    const isSource = /\.ts$/.test(name) && !/\.test\.ts$|-fixture\.ts$|\.d\.ts$/.test(name);
    return isSource ? [relative(root, path)] : [];
  });
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/from "(\.[^"]+)"/g)].map((match) =>
    relative(root, join(root, dirname(file), match[1] ?? "")),
  );
}
