// A key of ours in another spelling. It would be ignored like any unknown key, and what it was meant to
// limit would not be limited.

/** The keys that are one of `known` but for capitals, blanks, hyphens and underscores. */
export function misspelt(
  keys: readonly string[],
  known: readonly string[],
): { key: string; known: string }[] {
  const folded = new Map(known.map((name) => [fold(name), name]));
  return keys.flatMap((key) => {
    const name = folded.get(fold(key));
    return name === undefined || name === key ? [] : [{ key, known: name }];
  });
}

function fold(key: string): string {
  return key.toLowerCase().replaceAll(/[\s_-]/g, "");
}
