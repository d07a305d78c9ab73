/** Resolves once this holds; throws after ten seconds in which it did not. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let n = 0; n < 1_000; n += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("It did not come to pass");
}
