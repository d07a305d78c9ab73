/** Files that one call of R2 deletes at most. Source: R2's own limit. */
const PAGE_FILES = 1000;

/** Deletes every file below a prefix, which ends in "/". Asked again after a crash, it goes on. */
export async function clearPrefix(bucket: R2Bucket, prefix: string): Promise<void> {
  for (;;) {
    const { objects } = await bucket.list({ prefix, limit: PAGE_FILES });
    if (objects.length === 0) return;
    await bucket.delete(objects.map((object) => object.key));
  }
}
