/** One table of weights, rows by keys; null is masked. */
export type Table = (number | null)[][];

/** Cells of the same shade, in whole per cents of ink, as one path in units of a cell. What is nearly paper is paper. */
export const shades = (table: Table): { shade: number; path: string }[] => {
  const paths = new Map<number, string>();
  table.forEach((row, i) => row.forEach((w, j) => {
    const shade = Math.round(100 * (w ?? 0));
    if (shade > 0) paths.set(shade, (paths.get(shade) ?? "") + `M${j} ${i}h1v1h-1z`);
  }));
  return [...paths].map(([shade, path]) => ({ shade, path }));
};

/** What the mask hides, as one path. */
export const hidden = (table: Table): string =>
  table.flatMap((row, i) => row.map((w, j) => (w === null ? `M${j} ${i}h1v1h-1z` : ""))).join("");

/** Where each position should look for a task whose answer says so: the column for a row, of tables with so many rows. */
export const PATTERNS: Record<string, (row: number, rows: number) => number> = {
  reverse: (row, rows) => rows - 1 - row,
  copy: (row) => row,
  shift: (row, rows) => (row + rows - 1) % rows,
};

/** How much of the looks falls where it should, on average over the rows; null for a task without a pattern. */
export const onPattern = (task: string, table: Table): number | null => {
  const column = PATTERNS[task];
  if (!column || table.length !== table[0]?.length) return null;
  return table.reduce((sum, row, i) => sum + (row[column(i, table.length)] ?? 0), 0) / table.length;
};
