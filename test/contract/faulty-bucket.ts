// A real bucket that fails as the documented one does: the local emulator is more lenient.

export interface Faults {
  /** Refuse a second write to a key within this time with R2's own 429. `now` in milliseconds. */
  writeEvery?: { milliseconds: number; now: () => number };
  /** Sizes of list pages in order, the last one for all further pages; always `truncated` if cut. */
  pageSizes?: number[];
  /** Throw at the nth call (from 1) of an operation, before or after it took effect. */
  fail?: { operation: Operation; nth: number; error: Error; when?: "before" | "after" }[];
  /** What a body reads as, instead of what is stored. */
  body?: (bytes: ArrayBuffer) => ArrayBuffer;
  /** What a put stores, instead of what it was given. */
  stored?: (bytes: Uint8Array) => Uint8Array;
}

export type Operation = "get" | "head" | "put" | "delete" | "list";

export interface FaultyBucket extends R2Bucket {
  calls: Record<Operation, number>;
  /** Keys of opened bodies that nobody has read yet. */
  unread: Set<string>;
  /** Every list's options, as they were given. */
  lists: (R2ListOptions | undefined)[];
}

export const TOO_MANY_WRITES = new Error(
  "put: Reduce your concurrent request rate for the same object. (10058)",
);

export function createFaultyBucket(bucket: R2Bucket, faults: Faults = {}): FaultyBucket {
  const calls = { get: 0, head: 0, put: 0, delete: 0, list: 0 };
  const unread = new Set<string>();
  const lists: (R2ListOptions | undefined)[] = [];
  const lastWrites = new Map<string, number>();

  async function run<T>(operation: Operation, call: () => Promise<T>): Promise<T> {
    calls[operation] += 1;
    const fault = faults.fail?.find(
      (each) => each.operation === operation && each.nth === calls[operation],
    );
    if (fault !== undefined && fault.when !== "after") throw fault.error;
    const result = await call();
    if (fault !== undefined) throw fault.error;
    return result;
  }

  function checkRate(key: string): void {
    if (faults.writeEvery === undefined) return;
    const time = faults.writeEvery.now();
    if (time - (lastWrites.get(key) ?? -Infinity) < faults.writeEvery.milliseconds) {
      throw TOO_MANY_WRITES;
    }
    lastWrites.set(key, time);
  }

  const faulty = {
    calls,
    unread,
    lists,
    head: (key: string) => run("head", () => bucket.head(key)),
    get: (key: string) =>
      run("get", async () => {
        const object = await bucket.get(key);
        return object === null ? null : watchBody(object, unread, faults.body);
      }),
    put: (key: string, value: Uint8Array, options?: R2PutOptions) =>
      run("put", async () => {
        checkRate(key);
        return bucket.put(key, faults.stored?.(value) ?? value, options);
      }),
    delete: (keys: string | string[]) =>
      run("delete", async () => {
        for (const key of [keys].flat()) checkRate(key);
        return bucket.delete(keys);
      }),
    list: (options?: R2ListOptions) =>
      run("list", () => {
        lists.push(options);
        const size = faults.pageSizes?.[calls.list - 1] ?? faults.pageSizes?.at(-1);
        const limit = Math.min(options?.limit ?? 1000, size ?? 1000);
        return bucket.list({ ...options, limit });
      }),
    createMultipartUpload: unused,
    resumeMultipartUpload: unused,
  };
  // The overloads of R2Bucket cannot be written as an object literal; this is a test's own value.
  return faulty as unknown as FaultyBucket;
}

function watchBody(
  object: R2ObjectBody,
  unread: Set<string>,
  body: ((bytes: ArrayBuffer) => ArrayBuffer) | undefined,
): R2ObjectBody {
  unread.add(object.key);
  return new Proxy(object, {
    get(target, property) {
      if (property === "arrayBuffer") {
        return async () => {
          unread.delete(target.key);
          const bytes = await target.arrayBuffer();
          return body === undefined ? bytes : body(bytes);
        };
      }
      return Reflect.get(target, property, target);
    },
  });
}

function unused(): never {
  throw new Error("Not part of this bucket");
}
