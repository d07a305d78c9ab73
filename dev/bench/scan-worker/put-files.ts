/** Six at a time: what an invocation may have open. */
export async function putFiles(
  bucket: R2Bucket,
  files: readonly (readonly [key: string, text: string])[],
): Promise<void> {
  for (let n = 0; n < files.length; n += 6) {
    await Promise.all(files.slice(n, n + 6).map(([key, text]) => bucket.put(key, text)));
  }
}
