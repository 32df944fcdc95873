/** A digit drawn by hand, read as the digits were on which the model learnt: 32 × 32 dots, black or white, the digit as
 *  large as fits; then 8 × 8 cells, each the number of black dots in its 4 × 4 (Alpaydin and Kaynak, 1998). */
export type Point = [number, number];

export const SIDE = 8;
export const FULL = 16;
const DOTS = 32;
const BRUSH = 2.8; // dots on each side of the line: then there is as much ink as in theirs
const LARGEST = DOTS - 2 * BRUSH;

export const blank = (): number[] => Array<number>(SIDE * SIDE).fill(0);

/** How far a point is from a line between two. */
const away = ([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number => {
  const [dx, dy] = [bx - ax, by - ay];
  const along = dx || dy ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy))) : 0;
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
};

/** Strokes, in any units, as 64 whole numbers from 0 to 16. What is drawn small is made larger, up to eight times what
 *  it was in a square of `side`; a dot stays one. */
export const cellsOf = (strokes: Point[][], side: number): number[] => {
  const points = strokes.flat();
  if (!points.length) return blank();
  const [low, high] = [Math.min, Math.max].map((end) => [0, 1].map((axis) => end(...points.map((p) => p[axis]))));
  const size = Math.max(high[0] - low[0], high[1] - low[1]);
  const scale = LARGEST / Math.max(size, side / 8);
  const place = (p: Point): Point => [0, 1].map((axis) => DOTS / 2 + scale * (p[axis] - (low[axis] + high[axis]) / 2)) as Point;
  const lines = strokes.filter((s) => s.length).flatMap((stroke) => {
    const placed = stroke.map(place);
    return placed.map((p, i): [Point, Point] => [placed[Math.max(0, i - 1)], p]);
  });
  const cells = blank();
  for (let y = 0; y < DOTS; y++) for (let x = 0; x < DOTS; x++)
    if (lines.some(([a, b]) => away([x + 0.5, y + 0.5], a, b) <= BRUSH)) cells[(y >> 2) * SIDE + (x >> 2)]++;
  return cells;
};
