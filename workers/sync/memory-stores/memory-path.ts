// The stores API's form of a path: "/a/b", already canonical. The rules themselves are those of
// `safety/path.ts`; this repairs nothing, so that a client's path and ours are the same string.

import { MemdirError } from "../../../src/shared/errors.ts";
import { STORE_PATH_SEGMENTS } from "../../../src/shared/limits/memory.ts";
import { canonicalPath, showPath } from "../../../src/shared/safety/path.ts";

/** The path inside the store of a memory's path. Throws `invalid_request` with the rule. */
export function memoryPath(raw: string, field: string): string {
  const path = checked(raw, field);
  if (path === "") {
    throw new MemdirError("invalid_request", `${field}: "/" is the store; name a memory in it`);
  }
  return path;
}

/** The folder inside the store of a prefix such as "/notes/"; "" for "/" and for none. */
export function memoryPrefix(raw: string | undefined, field: string): string {
  if (raw === undefined || raw === "/") return "";
  if (!raw.endsWith("/")) {
    throw new MemdirError(
      "invalid_request",
      `${field}: ${showPath(raw)} does not end in "/"; a prefix is a folder, such as "/notes/"`,
    );
  }
  return `${checked(raw.slice(0, -1), field)}/`;
}

function checked(raw: string, field: string): string {
  const path = canonicalPath(raw);
  if (path.status !== "ok") throw new MemdirError("invalid_request", `${field}: ${path.message}`);
  if (path.path !== raw) {
    const rule =
      raw.normalize("NFC") === raw
        ? 'a segment is empty or ".", or it ends in "/"'
        : "it is not in Unicode Normalization Form C";
    throw new MemdirError(
      "invalid_request",
      `${field}: ${showPath(raw)}: ${rule}; send ${showPath(path.path)}`,
    );
  }
  const segments = raw.split("/").length - 1;
  if (segments > STORE_PATH_SEGMENTS) {
    throw new MemdirError(
      "invalid_request",
      `${field}: ${segments} segments; a path has at most ${STORE_PATH_SEGMENTS}`,
    );
  }
  return raw.slice(1);
}
