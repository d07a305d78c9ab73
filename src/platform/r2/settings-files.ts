// The settings of a session, read from where each layer lies, and what follows from them for its
// memory.

import { MemdirError } from "../../shared/errors.ts";
import type { FileStore } from "../../shared/files/store.ts";
import { isWithin } from "../../shared/safety/path.ts";
import type { Enabled, SettingsLayers, SettingsSource } from "../../shared/settings/enabled.ts";
import { gitRoot } from "../../shared/settings/git-root.ts";
import type {
  EnabledPlace,
  IgnoredSetting,
  MemoryVariables,
  NoPlace,
} from "../../shared/settings/locate.ts";
import { enabledBy, locateMemory } from "../../shared/settings/locate.ts";
import { parseSettings, unreadableSettings } from "../../shared/settings/schema.ts";
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
  /** Keys and files that cannot be used, and why. */
  ignored: IgnoredSetting[];
}

/** A session's memory, and what happens to a secret in it. */
export type SessionPlace = NoPlace | (EnabledPlace & { secrets: "refuse" | "warn" });

/** The file of the managed and the user layer, in its folder. */
export const SETTINGS_FILE = "settings.json";

/**
 * The layers that a session has. What cannot be used counts as the strictest that it may have meant, and
 * says so. A project outside the session's workspace has no settings of its own. Throws `unavailable`
 * where the storage fails: a guess might turn on what somebody turned off.
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

/** Whether the settings and variables of this moment let a session have memory; throws as `readSettings`. */
export async function enabledNow(
  bucket: R2Bucket,
  owner: Owner,
  session: PlaceSession,
  variables: MemoryVariables,
): Promise<Enabled> {
  const early = enabledBy(variables, session.bare, {});
  if (!early.enabled) return early;
  const { layers } = await readSettings(bucket, owner, session);
  return enabledBy(variables, session.bare, layers);
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
  const parsed = await parsedFile(source, store, path);
  if (!parsed) return;
  read.layers[source] = parsed.settings;
  const name = path.slice(path.lastIndexOf("/") + 1);
  for (const { key = name, reason } of parsed.problems) read.ignored.push({ source, key, reason });
}

async function parsedFile(source: SettingsSource, store: FileStore, path: string) {
  let bytes: Uint8Array | undefined;
  try {
    bytes = (await store.get(path))?.bytes;
  } catch (error) {
    log("settings.unreadable", { source, error: errorName(error) });
    throw new MemdirError("unavailable", `The ${source} settings could not be read. Try again`);
  }
  if (bytes === undefined) return undefined;
  try {
    return parseSettings(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return unreadableSettings("the file is not UTF-8");
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

/** The time zone that a user has set for sessions that name none; throws as `readSettings`. */
export async function ownTimeZone(bucket: R2Bucket, owner: Owner): Promise<string | undefined> {
  const { store } = settingsMount(bucket, owner, "user");
  return (await parsedFile("user", store, SETTINGS_FILE))?.settings.time_zone;
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
