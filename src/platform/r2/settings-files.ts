// The settings of a session, read from where each layer lies, and what follows from them for its
// memory.

import type { FileStore } from "../../shared/files/store.ts";
import { isWithin } from "../../shared/safety/path.ts";
import type { SettingsLayers, SettingsSource } from "../../shared/settings/enabled.ts";
import { gitRoot } from "../../shared/settings/git-root.ts";
import type {
  EnabledPlace,
  IgnoredSetting,
  MemoryVariables,
  NoPlace,
} from "../../shared/settings/locate.ts";
import { enabledBy, locateMemory } from "../../shared/settings/locate.ts";
import { parseSettings } from "../../shared/settings/schema.ts";
import { errorName, log } from "../log.ts";
import type { Owner } from "./mount-table.ts";
import { localFiles, settingsMount, workspaceMount } from "./mount-table.ts";

/** What of a session decides on its settings and its memory. */
export interface PlaceSession {
  /** The workspace. */
  environmentId: string;
  /** Canonical. */
  projectRoot: string;
  bare: boolean;
}

export interface SettingsRead {
  layers: SettingsLayers;
  /** Files that count as absent, and why. */
  ignored: IgnoredSetting[];
}

/** A session's memory, and what happens to a secret in it. */
export type SessionPlace = NoPlace | (EnabledPlace & { secrets: "refuse" | "warn" });

/** The file of the managed and the user layer, in its folder. */
export const SETTINGS_FILE = "settings.json";

/**
 * The layers that a session has. A file that cannot be read or used counts as absent, and says so. A
 * project outside the session's workspace has no settings of its own.
 */
export async function readSettings(
  bucket: R2Bucket,
  owner: Owner,
  session: Pick<PlaceSession, "environmentId" | "projectRoot">,
): Promise<SettingsRead> {
  const workspace = workspaceMount(bucket, owner, session.environmentId);
  const local = localFiles(bucket, owner, session.environmentId);
  const files: [SettingsSource, FileStore, string][] = [
    ["policy", settingsMount(bucket, owner, "managed").store, SETTINGS_FILE],
    ["user", settingsMount(bucket, owner, "user").store, SETTINGS_FILE],
  ];
  if (isWithin(workspace.at, session.projectRoot)) {
    const folder = `${session.projectRoot}/.claude`.slice(workspace.at.length + 1);
    files.push(["project", workspace.store, `${folder}/${SETTINGS_FILE}`]);
    files.push(["local", local, `${folder}/settings.local.json`]);
  }
  const read: SettingsRead = { layers: {}, ignored: [] };
  await Promise.all(files.map(([source, store, path]) => readLayer(read, source, store, path)));
  read.ignored.sort((a, b) => (a.source < b.source ? -1 : 1));
  return read;
}

/**
 * Whether a session has memory, by which rule, where, and with which rule for secrets. Reads nothing
 * where variables or the session alone turn it off. Throws `unavailable` where the storage cannot say
 * which repository the project belongs to: a guess would start a second memory.
 */
export async function placeFor(
  bucket: R2Bucket,
  owner: Owner,
  session: PlaceSession,
  variables: MemoryVariables,
): Promise<SessionPlace> {
  const early = enabledBy(variables, session.bare, {});
  if (!early.enabled) return { enabled: false, rule: early.rule, ignored: [] };
  const workspace = workspaceMount(bucket, owner, session.environmentId);
  const [settings, git] = await Promise.all([
    readSettings(bucket, owner, session),
    gitRoot(workspace.store, session.projectRoot, workspace.at),
  ]);
  const place = await locateMemory({
    variables,
    bare: session.bare,
    settings: settings.layers,
    git,
    ignored: settings.ignored,
  });
  return place.enabled ? { ...place, secrets: secretsRule(settings.layers) } : place;
}

async function readLayer(
  read: SettingsRead,
  source: SettingsSource,
  store: FileStore,
  path: string,
): Promise<void> {
  const ignore = (reason: string) => {
    const key = path.slice(path.lastIndexOf("/") + 1);
    read.ignored.push({ source, key, reason: `${reason}; the whole file counts as absent` });
  };
  try {
    const file = await store.get(path);
    if (file === undefined) return;
    const parsed = parseSettings(
      new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(file.bytes),
    );
    if (parsed.status === "ok") read.layers[source] = parsed.settings;
    else ignore(parsed.reason);
  } catch (error) {
    if (error instanceof TypeError) return ignore("the file is not UTF-8");
    log("settings.unreadable", { source, error: errorName(error) });
    ignore("the file could not be read");
  }
}

/**
 * What happens to a secret in private memory. Only trusted layers may lower it to a warning: a
 * project's settings come with its repository.
 */
function secretsRule({ policy, local, user }: SettingsLayers): "refuse" | "warn" {
  return (
    policy?.privateSecretScan ?? local?.privateSecretScan ?? user?.privateSecretScan ?? "refuse"
  );
}

/** The same rule for a caller without a session: what the organisation and the user say. */
export async function ownSecretsRule(bucket: R2Bucket, owner: Owner): Promise<"refuse" | "warn"> {
  const read: SettingsRead = { layers: {}, ignored: [] };
  await Promise.all([
    readLayer(read, "policy", settingsMount(bucket, owner, "managed").store, SETTINGS_FILE),
    readLayer(read, "user", settingsMount(bucket, owner, "user").store, SETTINGS_FILE),
  ]);
  return secretsRule(read.layers);
}
