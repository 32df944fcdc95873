import { perpendicular, toPixel, type Frame, type Point } from "./plane";

/** A label that belongs to a point, its text measured by whoever draws it. */
export interface LabelIn {
  at: Point;
  width: number;
  height: number;
  /** Free space round the point. */
  radius: number;
  /** Rather to its right or left than under or over it. */
  beside?: boolean;
}

/** Where its middle goes. leader: so far away that a thin line to its point helps. */
export interface LabelOut { x: number; y: number; leader: boolean }

/** What labels should keep off, in pixels. Discs are points and ticks; strokes may be crossed when all else is worse. */
export interface Obstacles { discs: { at: Point; radius: number }[]; strokes: [Point, Point][] }

interface Place { x: number; y: number; w: number; h: number; ring: number }

/** How much of a stroke runs through a box (Liang and Barsky's clipping). */
const through = ([a, b]: [Point, Point], box: Place): number => {
  let [from, to] = [0, 1];
  for (const c of [0, 1]) {
    const [middle, half] = c ? [box.y, box.h / 2] : [box.x, box.w / 2];
    const step = b[c] - a[c];
    const [low, high] = [middle - half - a[c], middle + half - a[c]];
    if (!step) { if (low > 0 || high < 0) return 0; continue; }
    from = Math.max(from, Math.min(low / step, high / step));
    to = Math.min(to, Math.max(low / step, high / step));
  }
  return to > from ? (to - from) * Math.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) : 0;
};

const RINGS = 14;
const STEP = 12; // between rings; also what a ring farther out costs, in pixels of stroke crossed
// Directions in the order they are liked, in half labels: a label stands under or over its point, or beside it.
const UNDER = [[0, 1], [0, -1], [1, 0], [-1, 0]];
const BESIDE = [[1, 0], [-1, 0]];
const REST = [[1, -1], [1, 1], [-1, -1], [-1, 1], [0.5, 1], [-0.5, 1], [0.5, -1], [-0.5, -1], [1, 0.5], [1, -0.5], [-1, 0.5], [-1, -0.5]];

/** Places round a point, on one ring. */
const places = ({ at: [x, y], width: w, height: h, radius, beside }: LabelIn, ring: number): Place[] =>
  [...(beside ? BESIDE : []), ...UNDER, ...REST].map(([dx, dy]) => {
    const far = (radius + ring * STEP) * (dx && dy ? 0.75 : 1);
    return { x: x + dx * (far + w / 2), y: y + dy * (far + h / 2), w, h, ring };
  });

/** A place for each label, in the order given (the first choose first): inside width × height, off every disc and every
 *  other label, and off the strokes where a place nearby can be had. The same input always gives the same places. */
export const placeLabels = (labels: LabelIn[], { discs, strokes }: Obstacles, width: number, height: number): LabelOut[] => {
  const put: Place[] = [];
  /** Stops counting once a place is as bad as the best so far. */
  const cost = (box: Place, self: number, limit: number): number => {
    const out = Math.max(box.w / 2 - box.x, box.x + box.w / 2 - width, box.h / 2 - box.y, box.y + box.h / 2 - height, 0);
    let bad = box.ring * STEP + out * 1e4;
    for (const { at, radius } of discs) {
      if (bad >= limit) return bad;
      const dx = Math.max(Math.abs(at[0] - box.x) - box.w / 2, 0);
      const dy = Math.max(Math.abs(at[1] - box.y) - box.h / 2, 0);
      const deep = radius * radius - dx * dx - dy * dy;
      if (deep > 0) bad += 400 + deep;
    }
    for (const [i, other] of put.entries()) {
      const u = (box.w + other.w) / 2 - Math.abs(box.x - other.x);
      const v = (box.h + other.h) / 2 - Math.abs(box.y - other.y);
      if (i !== self && u > 0 && v > 0) bad += 800 + 20 * Math.min(u, v);
    }
    for (const stroke of strokes) bad += through(stroke, box);
    return bad;
  };
  // If anything is wrong after the first round, what chose first chooses again, now knowing the others.
  for (let round = 0, wrong = true; wrong && round < 2; round++) {
    wrong = false;
    labels.forEach((label, i) => {
      let [best, least] = [places(label, 0)[0], Infinity];
      for (let ring = 0; ring < RINGS && ring * STEP < least; ring++) for (const place of places(label, ring)) {
        const bad = cost(place, i, least);
        if (bad < least) [best, least] = [place, bad];
      }
      put[i] = best;
      wrong ||= least > 400;
    });
  }
  return put.map(({ x, y, ring }) => ({ x, y, leader: ring > 1 }));
};

/** Width and height of a text, in pixels. */
export type Size = [width: number, height: number];

const HALO = 15;
const POINT = 9;

/** Labels of the plane of queries and keys: the query's at its tip, then the pinned key's, then the others'. Ticks (at 1
 *  and 2 on both axes) are kept free. pinned: -1 for none. */
export const placeKeys = (frame: Frame, query: Point, keys: Point[], pinned: number, querySize: Size, keySizes: Size[]):
  { query: LabelOut; keys: LabelOut[] } => {
  const order = keys.map((_, i) => i).sort((a, b) => Number(b === pinned) - Number(a === pinned) || a - b);
  const tip = toPixel(frame, query);
  const at = keys.map((k) => toPixel(frame, k));
  const cast = pinned < 0 ? null : perpendicular(frame, query, keys[pinned]);
  const label = (point: Point, [width, height]: Size, beside: boolean): LabelIn => ({ at: point, width, height, radius: HALO, beside });
  const ticks = [1, 2].flatMap((t) => [toPixel(frame, [t, 0]), toPixel(frame, [0, t])])
    .map(([x, y], i): Point => (i % 2 ? [x - 9, y] : [x, y + 9]));
  const [first, ...rest] = placeLabels(
    [label(tip, querySize, true), ...order.map((i) => label(at[i], keySizes[i], i === pinned))],
    {
      discs: [{ at: tip, radius: HALO }, ...at.map((p) => ({ at: p, radius: POINT })), ...ticks.map((p) => ({ at: p, radius: 6 }))],
      strokes: [[toPixel(frame, [0, 0]), tip], ...(cast ? [cast.drop, cast.beside] : [])],
    },
    frame.width, frame.height);
  return { query: first, keys: keys.map((_, i) => rest[order.indexOf(i)]) };
};

/** Labels of the plane of values: the output's first, then the values'. Lines from every value to the output. */
export const placeValues = (frame: Frame, output: Point, values: Point[], outputSize: Size, valueSizes: Size[]):
  { output: LabelOut; values: LabelOut[] } => {
  const from = toPixel(frame, output);
  const at = values.map((v) => toPixel(frame, v));
  const label = (point: Point, [width, height]: Size, beside: boolean): LabelIn => ({ at: point, width, height, radius: POINT + 1, beside });
  const [first, ...rest] = placeLabels(
    [label(from, outputSize, true), ...at.map((p, i) => label(p, valueSizes[i], false))],
    { discs: [from, ...at].map((p) => ({ at: p, radius: POINT })), strokes: at.map((p) => [p, from]) },
    frame.width, frame.height);
  return { output: first, values: rest };
};
