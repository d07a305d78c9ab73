// The rules of the layers, read from the imports.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/**
 * The rooms, from the ground floor up. An import stays within its room or goes to a room of an earlier
 * line; rooms of one line do not know each other. The longest path that fits is a file's room, so what
 * lies right in a folder of rooms is a room too.
 */
const ORDER = [
  ["src/shared/limits", "src/shared/errors.ts"],
  ["src/shared/text"],
  ["src/shared/safety"],
  ["src/shared/settings", "src/shared/files"],
  ["src/shared/thread"],
  ["src/shared/loop"],
  ["src/shared/compaction", "src/shared/events"],
  ["src/shared/memdir", "src/shared/tools"],
  ["src/shared/recall", "src/shared/fork"],
  ["src/shared/session-memory", "src/shared/extraction"],
  ["src/shared/turn"],
  ["src/platform"],
  ["src/platform/http", "src/platform/anthropic", "src/platform/secrets/rules"],
  ["src/platform/objects", "src/platform/r2", "src/platform/secrets"],
  ["src/platform/threads"],
  ["workers/env.ts"],
  ["workers/agent/contract", "workers/sync/memdir", "workers/dream"],
  ["workers/agent/rows", "workers/sync/memory-stores"],
  ["workers/agent/stream", "workers/agent/account", "workers/sync/settings"],
  ["workers/agent/setup"],
  [
    "workers/agent/recall",
    "workers/agent/compaction",
    "workers/agent/notes",
    "workers/agent/erasing",
  ],
  ["workers/agent/turn", "workers/sync/workspaces"],
  ["workers/agent/extraction"],
  ["workers/agent/session"],
  ["workers/agent/http"],
  ["workers/main.ts"],
];
/** Rooms of one of these know nothing of the others, however high they lie. */
const WORKERS = ["workers/agent/", "workers/sync/", "workers/dream/"];
/** A file is one idea: think at 200 lines, split at 300. */
const MOST_LINES = 300;

const FORBIDDEN_IN_CORE = [
  /from "cloudflare:/,
  /@anthropic-ai\/sdk/,
  /\bDate\.now\b/,
  /\bMath\.random\b/,
  /\bfetch\(/,
  /\bnew Date\(\)/,
  /\bcrypto\.(getRandomValues|randomUUID)\b/,
];

/** What only the mount table does, with what it is made of: how a key begins, is encoded and is used. */
const KEY_RULES = new Map([
  ["encodeKeyPart", /\bencodeKeyPart\b/],
  ["createR2Files", /\bcreateR2Files\b/],
  ["a key", /["'`]t\/|["'`]t["'`],/],
]);
const KEY_MAKERS = new Map([
  ["src/platform/r2/mount-table.ts", [...KEY_RULES.keys()]],
  ["src/platform/r2/r2-files.ts", ["createR2Files"]],
  ["src/platform/r2/r2-key.ts", ["encodeKeyPart"]],
]);

const files = ["src", "workers"].flatMap((folder) => sources(join(root, folder)));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

test("every file belongs to a layer", () => {
  expect(files.filter((file) => layerOf(file) === undefined)).toEqual([]);
});

test("no import points upwards, from room to room", () => {
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

test("no worker imports another", () => {
  const workerOf = (file: string) => WORKERS.find((worker) => file.startsWith(worker));
  const wrong = [...imports].flatMap(([file, targets]) => {
    const own = workerOf(file);
    if (own === undefined) return [];
    return targets
      .filter((target) => (workerOf(target) ?? own) !== own)
      .map((target) => `${file} -> ${target}`);
  });
  expect(wrong).toEqual([]);
});

test("no file is longer than one idea takes", () => {
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").split("\n").length - 1 }))
    .filter(({ lines }) => lines > MOST_LINES)
    .map(({ file, lines }) => `${file}: ${lines}`);
  expect(long).toEqual([]);
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
      const text = withoutComments(file);
      return FORBIDDEN_IN_CORE.filter((rule) => rule.test(text)).map((rule) => `${file}: ${rule}`);
    });
  expect(wrong).toEqual([]);
});

test("one file makes every key and every prefix of R2", () => {
  const wrong = files.flatMap((file) => {
    const own = KEY_MAKERS.get(file) ?? [];
    const text = withoutComments(file);
    return [...KEY_RULES]
      .filter(([name, rule]) => !own.includes(name) && rule.test(text))
      .map(([name]) => `${file}: ${name}`);
  });
  expect(wrong).toEqual([]);
});

test("nothing that is deployed imports the fake model or a tool of development", () => {
  const wrong = [...imports].filter(([, targets]) =>
    targets.some((target) => target.startsWith("dev/") || target.startsWith("test/")),
  );
  expect(wrong).toEqual([]);
});

function withoutComments(file: string): string {
  return readFileSync(join(root, file), "utf8").replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "");
}

function layerOf(file: string): { level: number; folder: string } | undefined {
  let found: { level: number; folder: string } | undefined;
  for (const [level, folders] of ORDER.entries()) {
    for (const folder of folders) {
      const holds = file === folder || file.startsWith(`${folder}/`);
      if (holds && folder.length > (found?.folder.length ?? 0)) found = { level, folder };
    }
  }
  return found;
}

function sources(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sources(path);
    const isSource = /\.ts$/.test(name) && !/\.test\.ts$|-fixture\.ts$|\.d\.ts$/.test(path);
    return isSource ? [relative(root, path)] : [];
  });
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/from "(\.[^"]+)"/g)].map((match) =>
    relative(root, join(root, dirname(file), match[1] ?? "")),
  );
}
