// The folder in which a local service keeps everything: storage, the secret of its tokens, a ready
// token for development.

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const SECRET_FILE = "auth-secret";

/** The folder of `STATE_DIR`, made if it is missing. Throws an `Error` with one clear line. */
export function openState(environment: NodeJS.ProcessEnv, root: string): string {
  const directory = resolve(root, environment.STATE_DIR || ".state");
  try {
    mkdirSync(directory, { recursive: true });
    for (const folder of [directory, join(directory, "storage")]) {
      if (existsSync(folder) && !statSync(folder).isDirectory()) {
        throw new Error(`${folder} is not a folder`);
      }
    }
    return directory;
  } catch (error) {
    throw new Error(
      `Cannot use ${directory} for state: ${reason(error)}. Remove it or set STATE_DIR to another folder`,
    );
  }
}

/** Whether a state has a key of its own already. */
export function hasSecret(directory: string): boolean {
  return existsSync(join(directory, SECRET_FILE));
}

/**
 * The key that signs tokens: `AUTH_SECRET` from the environment, else the state's own, made at the
 * first call. It has at least 32 characters.
 */
export function authSecret(environment: NodeJS.ProcessEnv, directory: string): string {
  const given = environment.AUTH_SECRET;
  if (given) return longEnough(given, "AUTH_SECRET");
  const path = join(directory, SECRET_FILE);
  try {
    writeFileSync(path, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
      throw new Error(`Cannot write ${path}: ${reason(error)}`);
    }
  }
  try {
    return longEnough(readFileSync(path, "utf8").trim(), path);
  } catch (error) {
    throw new Error(`Cannot use ${path}: ${reason(error)}`);
  }
}

function longEnough(secret: string, source: string): string {
  if (secret.length >= 32) return secret;
  throw new Error(
    `${source} has ${secret.length} characters; a signing key needs 32 or more. Set a longer one or remove it`,
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Keeps the token of the last start, for other programs; readable by its owner only. */
export function saveToken(directory: string, token: string): void {
  const path = join(directory, "dev-token");
  try {
    writeFileSync(path, token, { mode: 0o600 });
  } catch (error) {
    throw new Error(`Cannot write ${path}: ${reason(error)}`);
  }
}

const LOCK_FILE = "service.pid";

/**
 * Takes the state for this process; two services over one storage would lose writes. A holder that
 * died without giving it back does not count. Gives back how to release it.
 */
export function lockState(directory: string): () => void {
  const path = join(directory, LOCK_FILE);
  const holder = Number(readIfThere(path));
  if (holder > 0 && holder !== process.pid && isService(holder)) {
    throw new Error(
      `${directory} is used by another service (process ${holder}): stop it or set STATE_DIR to another folder`,
    );
  }
  writeFileSync(path, String(process.pid));
  return () => {
    if (Number(readIfThere(path)) === process.pid) rmSync(path, { force: true });
  };
}

/** Whether a process lives and is one of ours; numbers are given again to others. */
function isService(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A killed process that nobody has waited for yet has no command any more.
  return !existsSync("/proc/self") || readIfThere(`/proc/${pid}/cmdline`).includes("start.ts");
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
