import type { Enabled, SettingsLayers, SettingsSource } from "./enabled.ts";
import { autoMemoryEnabled, isOverruledProject, NO_MEMORY_DIR } from "./enabled.ts";
import type { GitRoot } from "./git-root.ts";
import type { MemoryPath } from "./memory-path.ts";
import { memoryBase, memoryPath } from "./memory-path.ts";
import { projectSlug } from "./slug.ts";

/** A setting that was found and not followed. */
export interface IgnoredSetting {
  source: SettingsSource | "environment" | "git";
  /** The setting, the variable, or the file that could not be used. */
  key: string;
  reason: string;
}

export interface NoPlace {
  enabled: false;
  rule: string;
  ignored: IgnoredSetting[];
}

export interface EnabledPlace {
  enabled: true;
  /** What turned it on. */
  rule: string;
  /** Canonical, without a final slash. */
  directory: string;
  /** Of `root`. */
  slug: string;
  /** Canonical git root of the project. */
  root: string;
  /** What set the directory. */
  source: "override" | "settings" | "default";
  ignored: IgnoredSetting[];
}

/** Whether a session has auto memory, by which rule, and where. */
export type MemoryPlace = NoPlace | EnabledPlace;

/** The variables of the deployment that say whether and where; undefined is not set. */
export interface MemoryVariables {
  DISABLE_AUTO_MEMORY?: string | undefined;
  SIMPLE?: string | undefined;
  MEMORY_PATH_OVERRIDE?: string | undefined;
  REMOTE_MEMORY_DIR?: string | undefined;
}

export interface PlaceInput {
  variables: MemoryVariables;
  bare: boolean;
  settings: SettingsLayers;
  git: GitRoot;
  /** What was ignored before, such as a file that could not be read. */
  ignored: readonly IgnoredSetting[];
}

/** Layers whose directory is honoured, the first wins. A project's settings come with its repository. */
const TRUSTED = ["policy", "local", "user"] as const;

/**
 * The one place that knows where a project's memory lies: the prompt, the sandbox and every
 * background run ask here. First that holds: `MEMORY_PATH_OVERRIDE`; `autoMemoryDirectory` of
 * policy, local, then user settings; `REMOTE_MEMORY_DIR`/projects/<slug>/memory. A refused value
 * goes into `ignored` with its rule, and the next one counts.
 *
 * `DISABLE_AUTO_MEMORY=0` turns memory on without `REMOTE_MEMORY_DIR` too, but makes no place: where
 * neither override nor settings name one, memory is off and the rule names the missing directory.
 */
export async function locateMemory(input: PlaceInput): Promise<MemoryPlace> {
  const { settings, git, variables } = input;
  const ignored = [...input.ignored, ...distrusted(settings)];
  const on = enabledBy(variables, input.bare, settings);
  if (git.diagnostic !== undefined) {
    ignored.push({ source: "git", key: ".git", reason: git.diagnostic });
  }
  if (!on.enabled) return { enabled: false, rule: on.rule, ignored };

  const slug = await projectSlug(git.root);
  const place = { enabled: true, rule: on.rule, slug, root: git.root, ignored } as const;
  const chosen = chosenDirectory(variables, settings, ignored);
  const usual = usualDirectory(variables, slug);
  // Chosen or not, one name means one directory.
  if (chosen !== undefined && chosen.directory === usual) {
    return { ...place, directory: usual, source: "default" };
  }
  if (chosen !== undefined) return { ...place, ...chosen };
  if (variables.REMOTE_MEMORY_DIR === undefined) {
    return { enabled: false, rule: NO_MEMORY_DIR, ignored };
  }
  const base = memoryBase(variables.REMOTE_MEMORY_DIR);
  if (base.status === "refused") {
    return { enabled: false, rule: `REMOTE_MEMORY_DIR is refused: ${base.rule}`, ignored };
  }
  return { ...place, directory: `${base.path}/projects/${slug}/memory`, source: "default" };
}

function usualDirectory({ REMOTE_MEMORY_DIR }: MemoryVariables, slug: string): string | undefined {
  if (REMOTE_MEMORY_DIR === undefined) return undefined;
  const base = memoryBase(REMOTE_MEMORY_DIR);
  return base.status === "ok" ? `${base.path}/projects/${slug}/memory` : undefined;
}

/** The chain of `enabled.ts` over these variables. */
export function enabledBy(
  variables: MemoryVariables,
  bare: boolean,
  settings: SettingsLayers,
): Enabled {
  return autoMemoryEnabled({
    disable: variables.DISABLE_AUTO_MEMORY,
    simple: variables.SIMPLE,
    remoteMemoryDir: variables.REMOTE_MEMORY_DIR,
    bare,
    settings,
  });
}

/** The first directory that somebody trusted names and that may be one. Adds to `ignored`. */
function chosenDirectory(
  variables: MemoryVariables,
  settings: SettingsLayers,
  ignored: IgnoredSetting[],
): { directory: string; source: "override" | "settings" } | undefined {
  const take = (raw: string | undefined, source: IgnoredSetting["source"], key: string) => {
    if (raw === undefined) return undefined;
    const path = memoryPath(raw);
    if (path.status === "ok") return path.path;
    ignored.push({ source, key, reason: reasonOf(path) });
    return undefined;
  };
  const override = take(variables.MEMORY_PATH_OVERRIDE, "environment", "MEMORY_PATH_OVERRIDE");
  if (override !== undefined) return { directory: override, source: "override" };
  for (const source of TRUSTED) {
    const directory = take(settings[source]?.autoMemoryDirectory, source, "autoMemoryDirectory");
    if (directory !== undefined) return { directory, source: "settings" };
  }
  return undefined;
}

/** What a project says and is not asked. */
function distrusted(settings: SettingsLayers): IgnoredSetting[] {
  const ignored: IgnoredSetting[] = [];
  if (settings.project?.autoMemoryDirectory !== undefined) {
    ignored.push({
      source: "project",
      key: "autoMemoryDirectory",
      reason:
        "project settings come with the repository and cannot choose where memory lies; set it in user or local settings",
    });
  }
  if (isOverruledProject(settings)) {
    ignored.push({
      source: "project",
      key: "autoMemoryEnabled",
      reason: "a project may turn auto memory off, not on",
    });
  }
  return ignored;
}

function reasonOf(path: Extract<MemoryPath, { status: "refused" }>): string {
  return `${path.rule}: ${path.message}`;
}
