// Figures and tables.

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** A number that a variable of the environment may replace, for a quick run. */
export function sizeOf(name: string, otherwise: number): number {
  return Number(process.env[name] || otherwise);
}

/** Numbers of a variable, separated by commas. */
export function sizesOf(name: string, otherwise: readonly number[]): readonly number[] {
  const given = process.env[name];
  return given ? given.split(",").map(Number) : otherwise;
}

/** "-" where there is no figure. */
export function shown(value: number | undefined, digits = 0): string {
  return value === undefined || Number.isNaN(value) ? "-" : value.toFixed(digits);
}

/** The first column to the left, the others to the right. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, n) =>
    Math.max(...rows.map((row) => (row[n] ?? "").length)),
  );
  for (const row of rows) {
    const cells = row.map((cell, n) =>
      n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0),
    );
    console.log(cells.join("  ").trimEnd());
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
