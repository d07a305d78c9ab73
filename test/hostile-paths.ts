// A corpus of paths that try to leave the directory they are given, the same on every run, and an
// oracle that does not know our rules: whatever way a later layer may read an accepted path, it must
// still lie inside.

export interface HostilePath {
  /** What it tries, for messages. */
  kind: string;
  raw: string;
}

const DOTS: [kind: string, text: string][] = [
  ["plain", ".."],
  ["percent-encoded", "%2e%2e"],
  ["half percent-encoded", ".%2E"],
  ["twice percent-encoded", "%252e%252e"],
  ["overlong UTF-8", "%c0%ae%c0%ae"],
  ["%u-encoded", "%u002e%u002e"],
  ["fullwidth", "\uff0e\uff0e"],
  ["half fullwidth", ".\uff0e"],
  ["two dot leader", "\u2025"],
  ["one dot leaders", "\u2024\u2024"],
  ["ideographic", "\u3002\u3002"],
  ["small", "\ufe52\ufe52"],
  ["Lisu", "\ua4f8\ua4f8"],
  ["Syriac", "\u0701\u0702"],
  ["split by zero width", ".\u200b."],
  ["followed by a joiner", "..\u2060"],
  ["followed by a tag", "..\u{e0020}"],
  ["followed by NUL", "..\u0000"],
  ["followed by a blank", ".. "],
  ["after a blank", " .."],
  ["followed by a no-break space", "..\u00a0"],
  ["three", "..."],
  ["four", "...."],
  ["parameter", "..;"],
  ["turned", "\u202e.."],
];

const SEPARATORS: [kind: string, text: string][] = [
  ["/", "/"],
  ["//", "//"],
  ["/./", "/./"],
  ["backslash", "\\"],
  ["mixed", "/\\"],
  ["percent-encoded /", "%2f"],
  ["percent-encoded backslash", "%5C"],
  ["twice percent-encoded /", "%252F"],
  ["overlong /", "%c0%af"],
  ["fraction slash", "\u2044"],
  ["division slash", "\u2215"],
  ["big solidus", "\u29f8"],
  ["fullwidth solidus", "\uff0f"],
  ["fullwidth backslash", "\uff3c"],
  ["set minus", "\u2216"],
  ["reverse solidus operator", "\u29f5"],
  ["NUL and /", "\u0000/"],
  ["line break and /", "\n/"],
];

const TARGETS = ["victim/keep.md", "memory-evil/MEMORY.md"];

/** Names that are hostile by themselves; `absolute` where they start a path. */
const WHOLE: [kind: string, text: string][] = [
  ...["C:", "c:/", "C:\\x\\a.md", "C:x/a.md", "Z:/workspace/a.md", "\\\\?\\C:\\a\\b.md"].map(
    kinded("drive"),
  ),
  ...[
    "\\\\srv\\share\\m",
    "//srv/share/m",
    "\\\\?\\UNC\\srv\\share\\m",
    "\\\\.\\pipe\\m",
    "//?/C:/m",
    "//",
  ].map(kinded("UNC")),
  ...["file:///etc/passwd", "http://127.0.0.1/a.md", "r2://memdir-files/t/acme", "FILE:///a/b"].map(
    kinded("URL"),
  ),
  ...[
    "~",
    "~/",
    "~/.",
    "~/..",
    "~/../x/y",
    "~root/x",
    "~bob/memory",
    "~/.claude/settings.json",
    "~/./.claude/x",
  ].map(kinded("home")),
  ...[
    "",
    " ",
    "\t",
    "\u00a0",
    ".",
    "./",
    "/",
    "/.",
    "/./",
    "/a",
    "relative/x",
    "./.claude/memory",
    " /data/mem",
  ].map(kinded("no directory")),
  ...[
    "/etc/claude-code",
    "/etc/claude-code/CLAUDE.md",
    "/etc//claude-code/x",
    "/workspace",
    "/workspace/./victim",
  ].map(kinded("reserved")),
  ...["/home/.claude", "/home/.claude/settings.json", "/home/./.claude//x"].map(kinded("reserved")),
  ...["/t/other/u/bob/memory/projects/x/memory/MEMORY.md", "/t/acme/u/bob/w/victim/keep.md"].map(
    kinded("nested tenant"),
  ),
  ...[
    "/workspace/attack-evil/a.md",
    "/workspace/attac/a.md",
    "/workspace/victim/keep.md",
    "/memory-evil/projects/a.md",
  ].map(kinded("prefix sibling")),
  ...[
    "/a\ud800/b",
    "/a/\udfffb",
    "/mem\u0000ory/x",
    "/a/\u0007b",
    "/a\u2028/b",
    "/a/b\u202egnp.md",
  ].map(kinded("broken character")),
  ...[
    `/${"a".repeat(256)}/b`,
    `/${"a/".repeat(600)}b`,
    `/${"記".repeat(86)}/b`,
    `/b/${"../".repeat(300)}x`,
  ].map(kinded("long")),
  ...[
    "/data/mem/../../etc",
    "/tmp/../..",
    "/a/b/../../../workspace/victim/keep.md",
    "/e\u0301/../x",
  ].map(kinded("traversal")),
];

/** Tenants and users whose keys a name may try to spell. */
const NESTED = [
  "t/other/u/bob",
  "t%2Fother%2Fu%2Fbob",
  "u/bob/w/victim",
  "..%2Fbob",
  "acme/../other",
  "t\u2215other",
];

/** Paths that start from nowhere: over 1,000, each different, for a file below "attack". */
export function relativeHostilePaths(): HostilePath[] {
  const paths: HostilePath[] = [];
  for (const [d, [dotKind, dots]] of DOTS.entries()) {
    for (const [s, [separatorKind, separator]] of SEPARATORS.entries()) {
      const kind = `${dotKind} dots, ${separatorKind}`;
      const tail = (TARGETS[(d + s) % TARGETS.length] ?? "").replaceAll("/", separator);
      paths.push({ kind, raw: dots + separator + tail });
      paths.push({ kind, raw: `sub/${dots}${separator}${dots}${separator}${tail}` });
      paths.push({ kind, raw: `a.md${separator}${dots}` });
    }
  }
  for (const nested of NESTED) {
    for (const [kind, dots] of DOTS.slice(0, 8)) {
      paths.push({ kind: `nested tenant, ${kind} dots`, raw: `${dots}/${dots}/${nested}/keep.md` });
    }
    paths.push({ kind: "nested tenant", raw: `${nested}/keep.md` });
  }
  return paths;
}

/** The same below each of the directories, and what is hostile from its first character on. */
export function hostilePaths(directories: readonly string[]): HostilePath[] {
  const below = relativeHostilePaths().map(({ kind, raw }, index) => ({
    kind,
    raw: `${directories[index % directories.length]}/${raw}`,
  }));
  const siblings = directories.flatMap((directory) =>
    ["-evil/a.md", ".bak/a.md", " /a.md", "\u200b/a.md", "%2f../a.md", "\u0301/a.md"].map(
      (end) => ({
        kind: "prefix sibling",
        raw: directory + end,
      }),
    ),
  );
  return [...WHOLE.map(([kind, raw]) => ({ kind, raw })), ...siblings, ...below];
}

/** Every place that a path may come to mean where a later layer decodes, folds or trims it. */
export function readings(path: string): Set<string> {
  const found = new Set([path]);
  const folds: ((text: string) => string)[] = [
    (text) => text.normalize("NFKC"),
    (text) => text.normalize("NFD"),
    (text) => text.replaceAll("\\", "/"),
    (text) => text.replaceAll(/[\p{Cc}\p{Cf}\p{DI}]/gu, ""),
    (text) => text.replaceAll(/[\u2044\u2215\u29f8\u2216\u29f5\uff0f\uff3c]/g, "/"),
    percentDecoded,
    (text) => percentDecoded(percentDecoded(text)),
    // As Windows does with the end of a name.
    (text) =>
      text
        .split("/")
        .map((part) => (/^\.+$/.test(part) ? part : part.replace(/[. ]+$/, "")))
        .join("/"),
  ];
  for (const fold of folds) {
    for (const text of [...found]) found.add(fold(text));
  }
  return new Set([...found].map(walked));
}

/** Where a path leads once "." and ".." are followed, as a file system would. */
function walked(path: string): string {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return `/${kept.join("/")}`;
}

function percentDecoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes;
    }
  });
}

function kinded(kind: string): (text: string) => [string, string] {
  return (text) => [kind, text];
}
