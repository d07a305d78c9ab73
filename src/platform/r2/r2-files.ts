import { MemdirError } from "../../shared/errors.ts";
import { sha256Hex } from "../../shared/files/digest.ts";
import { checkListQuery } from "../../shared/files/list-query.ts";
import type {
  DeleteResult,
  FileEntry,
  FileStore,
  ListPage,
  ListQuery,
  Precondition,
  PutResult,
  StoredFile,
} from "../../shared/files/store.ts";
import { keyOf, pathOf } from "./r2-key.ts";
import { type Sleep, unavailable, withRetries } from "./r2-retry.ts";

/** An R2 etag; R2 would read all else ("*", quotes, a weak mark) as something of its own. */
const ETAG = /^[\w-]+$/;

/**
 * The files below one prefix of a bucket. `prefix` is made of encoded parts and ends in "/": without
 * it a neighbour's keys would match. `sleep` waits between retries.
 */
export function createR2Files(
  bucket: R2Bucket,
  prefix: string,
  sleep: Sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
): FileStore {
  if (!prefix.endsWith("/")) {
    throw new MemdirError("internal", 'A key prefix ends in "/" and is not empty');
  }
  const location = { bucket, prefix, sleep };
  return {
    get: (path) => get(location, path),
    head: (path) => head(location, path),
    put: (path, bytes, precondition) => put(location, path, bytes, precondition),
    delete: (path, precondition) => remove(location, path, precondition),
    list: (query) => list(location, query),
  };
}

interface Location {
  bucket: R2Bucket;
  prefix: string;
  sleep: Sleep;
}

async function get(at: Location, path: string): Promise<StoredFile | undefined> {
  const key = keyOf(at.prefix, path);
  return withRetries("read", path, at.sleep, async () => {
    const object = await at.bucket.get(key);
    if (object === null) return undefined;
    const bytes = new Uint8Array(await object.arrayBuffer());
    // A body that came short must not pass for the file: an edit would write the rest away.
    if (bytes.length !== object.size) throw unavailable("read", path);
    return { ...entryOf(path, object), bytes };
  });
}

async function head(at: Location, path: string): Promise<FileEntry | undefined> {
  const object = await headObject(at, path);
  return object === null ? undefined : entryOf(path, object);
}

function headObject(at: Location, path: string): Promise<R2Object | null> {
  const key = keyOf(at.prefix, path);
  return withRetries("look at", path, at.sleep, () => at.bucket.head(key));
}

async function put(
  at: Location,
  path: string,
  bytes: Uint8Array,
  precondition: Precondition | undefined,
): Promise<PutResult> {
  const key = keyOf(at.prefix, path);
  const onlyIf = conditionOf(precondition);
  if (onlyIf === "never") return { status: "conflict" };
  // Copied, so that hash, length and body are of the same bytes whatever the caller does meanwhile.
  const body = bytes.slice();
  const customMetadata = await metadataOf(body);
  return withRetries("write", path, at.sleep, async (attempt) => {
    const object = await at.bucket.put(key, body, { onlyIf, customMetadata });
    if (object !== null) return written(path, object, body.length);
    if (attempt === 1) return { status: "conflict" };
    // An attempt that failed may still have written: then what is there is what we sent.
    const current = await at.bucket.head(key);
    if (current?.customMetadata?.sha256 !== customMetadata.sha256) return { status: "conflict" };
    return written(path, current, body.length);
  });
}

/** R2 answers a failed condition with null; this and the caller above are the only ones to see it. */
function conditionOf(precondition: Precondition | undefined): R2Conditional | "never" {
  if (precondition === undefined) return {};
  if ("ifAbsent" in precondition) return { etagDoesNotMatch: "*" };
  return ETAG.test(precondition.ifMatch) ? { etagMatches: precondition.ifMatch } : "never";
}

function written(path: string, object: R2Object, length: number): PutResult {
  if (object.size !== length) throw unavailable("write", path);
  return { status: "written", entry: entryOf(path, object) };
}

/** All metadata of an object; every put sets it whole, as R2 drops what a put leaves out. */
async function metadataOf(bytes: Uint8Array): Promise<{ sha256: string }> {
  return { sha256: await sha256Hex(bytes) };
}

/**
 * R2 has no conditional delete: a write between the head and the delete is lost. The window is one
 * round trip; where that matters (memory directories) the `Memdir` object is the only writer.
 */
async function remove(
  at: Location,
  path: string,
  precondition: { ifMatch: string } | undefined,
): Promise<DeleteResult> {
  const object = await headObject(at, path);
  if (object === null) return { status: "missing" };
  if (precondition !== undefined && object.etag !== precondition.ifMatch) {
    return { status: "conflict" };
  }
  await withRetries("delete", path, at.sleep, () => at.bucket.delete(object.key));
  return { status: "deleted" };
}

/**
 * Pages continue after the last path, not with R2's cursor: R2 answers a cursor that it does not know
 * with an empty last page, which would read as "no files".
 */
async function list(at: Location, query: ListQuery): Promise<ListPage> {
  const { prefix, after, limit } = checkListQuery(query);
  // A directory's key ends in "/" as its path does; the store's own prefix already does.
  const below = prefix === "" ? at.prefix : `${keyOf(at.prefix, prefix.slice(0, -1))}/`;
  const startAfter = after === "" ? undefined : keyOf(at.prefix, after);
  let cursor: string | undefined;
  for (;;) {
    const position = cursor === undefined ? startAfter && { startAfter } : { cursor };
    const page = await withRetries("list", prefix, at.sleep, () =>
      at.bucket.list({ prefix: below, limit, ...position }),
    );
    const entries: FileEntry[] = [];
    for (const object of page.objects) {
      const path = pathOf(at.prefix, object.key);
      if (path !== undefined) entries.push(entryOf(path, object));
    }
    if (!page.truncated) return { entries };
    const last = entries.at(-1);
    if (last !== undefined) return { entries, next: last.path };
    // A page without an entry of ours says nothing about the end.
    cursor = page.cursor;
  }
}

function entryOf(path: string, object: R2Object): FileEntry {
  return { path, size: object.size, etag: object.etag, modified: object.uploaded.getTime() };
}
