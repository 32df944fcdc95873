/** From numbers to pixels, for the plane of queries and keys and the plane of values. */
export type Point = [number, number];

export interface Frame { x0: number; x1: number; y0: number; y1: number; width: number; height: number }

/** The plane of queries and keys: ±2.7 both ways, a square. */
export const keyFrame = (size: number): Frame => ({ x0: -2.7, x1: 2.7, y0: -2.7, y1: 2.7, width: size, height: size });

/** The plane of values: the corner where both directions are positive, or all of it once a value leaves that corner;
 *  as wide as said, the same scale both ways, with room for the name of the direction at the right. */
export const valueFrame = (values: Point[], width: number): Frame => {
  const low = (c: 0 | 1, corner: number) => (values.some((v) => v[c] < -0.4) ? -2.7 : corner);
  const [x0, x1, y0, y1] = [low(0, -0.6), 3.6, low(1, -0.5), 2.7];
  return { x0, x1, y0, y1, width, height: Math.round((width * (y1 - y0)) / (x1 - x0)) };
};

export const toPixel = (f: Frame, [x, y]: Point): Point =>
  [((x - f.x0) / (f.x1 - f.x0)) * f.width, ((f.y1 - y) / (f.y1 - f.y0)) * f.height];

/** Not yet on the grid, perhaps outside: reduce's "move" sees to that. */
export const fromPixel = (f: Frame, [x, y]: Point): Point =>
  [f.x0 + (x / f.width) * (f.x1 - f.x0), f.y1 - (y / f.height) * (f.y1 - f.y0)];

/** What the perpendicular from a key onto the line of a query shows. */
export interface Shadow {
  /** Where the perpendicular meets the line. */
  foot: Point;
  /** How far along the query that is: negative when it lies behind the centre. */
  length: number;
  queryLength: number;
  /** length · queryLength = query · key */
  product: number;
}

/** null for a query of length 0, which has no line. */
export const shadow = ([a, b]: Point, [x, y]: Point): Shadow | null => {
  const queryLength = Math.hypot(a, b);
  if (!queryLength) return null;
  const product = a * x + b * y;
  const along = product / queryLength / queryLength;
  return { foot: [along * a || 0, along * b || 0], length: product / queryLength, queryLength, product };
};

/** In pixels. */
export interface Perpendicular {
  /** The query's line, from edge to edge of the frame. */
  line: [Point, Point];
  /** The shadow, drawn beside the query on the side away from the key. */
  beside: [Point, Point];
  /** From the key to the foot. */
  drop: [Point, Point];
  /** The right angle at the foot, for the d of a path; "" where the key is too near the line for one. */
  angle: string;
}

const BESIDE = 6;
const ANGLE = 7;

/** How the shadow is drawn; null for a query of length 0. */
export const perpendicular = (frame: Frame, query: Point, key: Point): Perpendicular | null => {
  const cast = shadow(query, key);
  if (!cast) return null;
  const [centre, tip, point, foot] = [[0, 0] as Point, query, key, cast.foot].map((p) => toPixel(frame, p));
  const unit = ([x, y]: Point): Point => {
    const size = Math.hypot(x, y) || 1;
    return [x / size, y / size];
  };
  const go = ([x, y]: Point, ...steps: [Point, number][]): Point =>
    steps.reduce(([u, v], [d, by]) => [u + d[0] * by, v + d[1] * by], [x, y]);
  const ahead = unit([tip[0] - centre[0], tip[1] - centre[1]]);
  // To the edges: the nearer of the two sides the line runs into.
  const reach = (d: Point) => Math.min(
    ...[0, 1].map((c) => (d[c] ? ((d[c] > 0 ? [frame.width, frame.height][c] : 0) - centre[c]) / d[c] : Infinity)));
  const behind: Point = [-ahead[0], -ahead[1]];
  const gap = Math.hypot(point[0] - foot[0], point[1] - foot[1]);
  const side: Point = gap > 1e-6 ? unit([point[0] - foot[0], point[1] - foot[1]]) : [-ahead[1], ahead[0]];
  const inwards = cast.length < 0 ? ahead : behind;
  const corners = [go(foot, [side, ANGLE]), go(foot, [side, ANGLE], [inwards, ANGLE]), go(foot, [inwards, ANGLE])];
  return {
    line: [go(centre, [behind, reach(behind)]), go(centre, [ahead, reach(ahead)])],
    beside: [go(centre, [side, -BESIDE]), go(foot, [side, -BESIDE])],
    drop: [point, foot],
    angle: gap < ANGLE + 2 ? "" : "M" + corners.map((p) => p.map((x) => +x.toFixed(1)).join(" ")).join("L"),
  };
};
