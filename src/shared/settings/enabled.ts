// Whether auto memory is on: the first rule that says something decides.

import type { LayerSettings } from "./schema.ts";

/** Where settings come from. "policy" is the managed layer, "local" a user's own for one project. */
export type SettingsSource = "policy" | "local" | "project" | "user";

/** The layers that exist. */
export type SettingsLayers = Partial<Record<SettingsSource, LayerSettings>>;

export interface EnabledInput {
  /** `DISABLE_AUTO_MEMORY`, `SIMPLE` and `REMOTE_MEMORY_DIR`, as they are set. */
  disable: string | undefined;
  simple: string | undefined;
  remoteMemoryDir: string | undefined;
  /** The session was made with `bare: true`. */
  bare: boolean;
  settings: SettingsLayers;
}

export interface Enabled {
  enabled: boolean;
  /** What decided, for people. */
  rule: string;
}

const TRUTHY = new Set(["1", "true", "yes", "on"]);
const FALSY = new Set(["0", "false", "no", "off"]);

/**
 * The chain, first match wins: (1) `DISABLE_AUTO_MEMORY` truthy: off; explicitly falsy: on, over all
 * that follows; anything else says nothing; (2) `SIMPLE` truthy or a bare session: off; (3) no
 * `REMOTE_MEMORY_DIR`: off, as a Worker is always remote; (4) the settings; (5) on.
 *
 * Layers of (4), first one that says something: policy, local, project, user. A project's settings
 * come with its repository and may be hostile: they may turn memory off, and what they turn on
 * does not count, so that a user's own `false` stands. Local comes before project: it is the user's own
 * answer to what the project asks for. A layer whose word cannot be read says off.
 *
 * Whether there is a place for what is on here is for `locate.ts` to say.
 */
export function autoMemoryEnabled(input: EnabledInput): Enabled {
  const disable = switchOf(input.disable);
  if (disable === true) return { enabled: false, rule: "DISABLE_AUTO_MEMORY is truthy" };
  if (disable === false) return { enabled: true, rule: "DISABLE_AUTO_MEMORY is falsy" };
  if (switchOf(input.simple) === true) return { enabled: false, rule: "SIMPLE is truthy" };
  if (input.bare) return { enabled: false, rule: "the session is bare" };
  if (input.remoteMemoryDir === undefined) return { enabled: false, rule: NO_MEMORY_DIR };
  return bySettings(input.settings) ?? { enabled: true, rule: "default" };
}

/** The rule where there is no place to put memory. */
export const NO_MEMORY_DIR = "REMOTE_MEMORY_DIR is not set";

/** Whether a project asks for memory that its user has turned off: it does not count, and is worth saying. */
export function isOverruledProject({ project, ...others }: SettingsLayers): boolean {
  return project?.autoMemoryEnabled === true && bySettings(others)?.enabled === false;
}

function bySettings(layers: SettingsLayers): Enabled | undefined {
  const { policy, local, project, user } = layers;
  const answers: [SettingsSource, LayerSettings["autoMemoryEnabled"]][] = [
    ["policy", policy?.autoMemoryEnabled],
    ["local", local?.autoMemoryEnabled],
    ["project", project?.autoMemoryEnabled === true ? undefined : project?.autoMemoryEnabled],
    ["user", user?.autoMemoryEnabled],
  ];
  for (const [source, says] of answers) {
    if (says === undefined) continue;
    const rule =
      says === "unclear"
        ? `what the ${source} settings say of auto memory cannot be read, so it is off`
        : `autoMemoryEnabled is ${says} in the ${source} settings`;
    return { enabled: says === true, rule };
  }
  return undefined;
}

/** The words of a variable that is a switch, in any case. */
export const SWITCH_WORDS = [...TRUTHY, ...FALSY].join(", ");

/** What a variable says; undefined where it says nothing that is known. */
export function switchOf(text: string | undefined): boolean | undefined {
  const word = text?.trim().toLowerCase() ?? "";
  if (TRUTHY.has(word)) return true;
  return FALSY.has(word) ? false : undefined;
}
