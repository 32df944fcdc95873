/** From numbers to pixels, for the plane of queries and keys and the plane of values. */
export type Point = [number, number];

export interface Frame { x0: number; x1: number; y0: number; y1: number; width: number; height: number }

/** The plane of queries and keys: ±2.7 both ways, a square. */
export const keyFrame = (size: number): Frame => ({ x0: -2.7, x1: 2.7, y0: -2.7, y1: 2.7, width: size, height: size });

/** The plane of values: the corner where both directions are positive, or all of it once a value leaves that corner;
 *  as wide as said, the same scale both ways. */
export const valueFrame = (values: Point[], width: number): Frame => {
  const low = (c: 0 | 1) => (values.some((v) => v[c] < -0.5) ? -2.7 : -0.6);
  const [x0, y0] = [low(0), low(1)];
  return { x0, x1: 2.9, y0, y1: 2.7, width, height: (width * (2.7 - y0)) / (2.9 - x0) };
};

export const toPixel = (f: Frame, [x, y]: Point): Point =>
  [((x - f.x0) / (f.x1 - f.x0)) * f.width, ((f.y1 - y) / (f.y1 - f.y0)) * f.height];

/** Not yet snapped: reduce's "move" does that. */
export const fromPixel = (f: Frame, [x, y]: Point): Point =>
  [f.x0 + (x / f.width) * (f.x1 - f.x0), f.y1 - (y / f.height) * (f.y1 - f.y0)];

/** What the perpendicular from a key onto the line of a query shows. null for a query of length 0, which has no line. */
export interface Shadow {
  /** Where the perpendicular meets the line. */
  foot: Point;
  /** How far along the query that is: negative when it lies behind the centre. */
  length: number;
  queryLength: number;
  /** length · queryLength = query · key */
  product: number;
}
export const shadow = (_query: Point, _key: Point): Shadow | null => null;

/** Pixels: the query's line to the edges of the frame, the shadow drawn beside the query, the perpendicular, its right
 *  angle (a path). null as above. */
export interface Perpendicular {
  line: [Point, Point];
  beside: [Point, Point];
  drop: [Point, Point];
  angle: string;
}
export const perpendicular = (_frame: Frame, _query: Point, _key: Point): Perpendicular | null => null;

/** A label that belongs to a point, its text measured by whoever draws it. */
export interface LabelIn { at: Point; width: number; height: number; /** free space round the point */ radius: number }
/** Where its middle goes; leader: so far away that a thin line to its point helps. */
export interface LabelOut { x: number; y: number; leader: boolean }
/** What labels should keep off: discs and strokes, in pixels. */
export interface Obstacles { discs: { at: Point; radius: number }[]; strokes: { a: Point; b: Point; width: number }[] }

/** A place for each label, in the order given (the first choose first): inside width × height, off every disc, label and
 *  stroke where that can be had. The same input always gives the same places. */
export const placeLabels = (labels: LabelIn[], _obstacles: Obstacles, _width: number, _height: number): LabelOut[] =>
  labels.map(({ at, height, radius }) => ({ x: at[0], y: at[1] + radius + height / 2, leader: false }));
