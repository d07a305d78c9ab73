import { STORAGE_CONCURRENCY } from "../limits/files.ts";

/** Does work for each item, begun in their order, at most so many at a time. */
export async function sideBySide<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
  most = STORAGE_CONCURRENCY,
): Promise<void> {
  const left = items.entries();
  // Who is done takes the next one: all read from one iterator.
  const worker = async () => {
    for (const [index, item] of left) await work(item, index);
  };
  await Promise.all(Array.from({ length: most }, worker));
}
