/** The arcs from one word to all: their widths are the softmax. Pixels; y grows downwards. */
export type ArcSize = "wide" | "phone" | "read" | "small";

export interface ArcInput {
  /** Where each word's centre is along the line of words (x, or y when the sentence reads down). */
  centres: number[];
  weights: number[];
  allowed: boolean[];
  chosen: number;
  size: ArcSize;
  /** Room between the feet and the edge of the picture: 208 unless given. */
  depth?: number;
  /** The sentence reads down: feet at x = depth, arcs to the left. Otherwise feet at y = depth, arcs above. */
  down?: boolean;
}

export interface Arc {
  column: number;
  /** Stroke width, in pixels; butt ends. */
  width: number;
  /** For the d of a path with fill none. */
  path: string;
  /** Where it stands on the chosen word and on the other, along the line of words. */
  from: number;
  to: number;
  /** Of its middle line. */
  height: number;
  loop: boolean;
  /** A linearGradient in user space, coral at (x1, y1), ink from `at` (0 to 1) of the way to (x2, y2). */
  gradient: { x1: number; y1: number; x2: number; y2: number; at: number };
}

// Width of the whole bundle, steepness of the arcs, the least width of a weight that exists.
const SIZES: Record<ArcSize, [bundle: number, steep: number, floor: number]> = {
  wide: [34, 2.14, 1], phone: [22, 1.72, 1], read: [34, 1.7, 1], small: [17, 1.15, 0.75],
};
const CLEAR = 4; // between the tops of arcs, one inside the other
const INK_FROM = 150; // pixels from the chosen word

interface Foot { column: number; width: number; from: number; to: number; height: number }

/** The height at which `outer` clears `inner`: tops apart by CLEAR, and edges that never cross. Two ellipses side by
 *  side at the foot: the outer holds the inner if it is no more curved there. A loop stands up straighter than an
 *  ellipse: it counts as if it were higher by half its stem. */
const clearing = (outer: Foot, inner: Foot, stem: number): number => {
  const [w, v] = [outer.width / 2, inner.width / 2];
  const half = Math.max(Math.abs(outer.to - outer.from) / 2 - w, 0);
  const held = Math.abs(inner.to - inner.from) / 2 + v;
  return Math.max(inner.height + w + v + CLEAR, w + (inner.height + v + stem / 2) * Math.sqrt(half / held));
};

/** One arc for each word that may be looked at, the farthest first (paint in this order). */
export const arcs = ({ centres, weights, allowed, chosen, size, depth = 208, down = false }: ArcInput): Arc[] => {
  const [widest, steep, floor] = SIZES[size];
  // In units of a bundle of 34, half of what stands on the chosen word (feet, gaps, the widest loop) must not reach the
  // feet on the words beside it. Where words are too short for that the unit is smaller, for all of the sentence alike.
  const apart = Math.min(...centres.slice(1).map((c, i) => c - centres[i]), 1e3) - 2.5 - (floor * (centres.length - 1)) / 2;
  const unit = Math.max(Math.min(apart / (42.7 + 0.8 * (centres.length - 1)), widest / 34), 0.1);
  const gap = 1.6 * unit;
  const stem = 9 * unit;
  const foot = (column: number): Foot =>
    ({ column, width: Math.max(34 * unit * weights[column], floor), from: 0, to: centres[column], height: 0 });

  // Side by side on the chosen word: left near…far, right far…near, then itself.
  const seen = centres.map((_, j) => j).filter((j) => allowed[j]);
  const left = seen.filter((j) => j < chosen).reverse().map(foot);
  const right = seen.filter((j) => j > chosen).map(foot);
  const self = allowed[chosen] ? foot(chosen) : undefined;
  let edge = 0;
  for (const f of [...left, ...[...right].reverse(), ...(self ? [self] : [])]) {
    if (edge) edge += f === self && right.length ? 7 * unit : gap;
    f.from = edge + f.width / 2;
    edge += f.width;
  }
  // The loop is as wide as it should be, or as there is room for beside the feet on the next words.
  const room = Math.min(...[left[0], right[0]].map((f) => (f ? Math.abs(f.to - centres[chosen]) - f.width / 2 : 1e3))) - 2 - edge / 2;
  const radius = self ? Math.max(self.width / 2 + 6 * unit, Math.min(11 * unit, room)) : 0;
  const shift = centres[chosen] - (edge + 2 * radius) / 2; // feet and loop together stand centred on the word
  for (const f of [...left, ...right]) f.from += shift;
  if (self) {
    self.from += shift;
    self.to = self.from + 2 * radius;
    self.height = stem + radius;
  }

  /** Near to far, each raised until it clears the one inside; the height of the tallest edge. */
  const raise = (c: number): number => {
    let tallest = self ? self.height + self.width / 2 : 0;
    for (const [side, first] of [[left, undefined], [right, self]] as const) {
      let inner = first;
      for (const f of side) {
        const wanted = c * Math.abs(f.to - f.from) ** 0.7 + f.width / 2;
        f.height = Math.max(wanted, f.width / 2 + CLEAR, inner ? clearing(f, inner, inner === self ? stem : 0) : 0);
        inner = f;
        tallest = Math.max(tallest, f.height + f.width / 2);
      }
    }
    return tallest;
  };
  // A set too tall for the picture is made flatter, not thinner: the steepest that fits.
  if (raise(steep) > depth) {
    let [low, high] = [0, steep];
    for (let i = 0; i < 12; i++) {
      const middle = (low + high) / 2;
      if (raise(middle) > depth) high = middle;
      else low = middle;
    }
    raise(low);
  }

  const number = (x: number) => +x.toFixed(1);
  const at = (along: number, above: number) => {
    const [a, b] = [number(along), number(depth - above)];
    return down ? `${b} ${a}` : `${a} ${b}`;
  };
  const pair = (along: number, above: number) => (down ? [above, along] : [along, above]).map(number).join(" ");
  return [...left, ...right, ...(self ? [self] : [])].map((f) => {
    const loop = f === self;
    const rise = loop ? radius : f.height;
    const dx = f.to - f.from;
    const turn = `A${pair(Math.abs(dx) / 2, rise)} 0 0 ${dx > 0 === down ? 0 : 1} ${at(f.to, loop ? stem : 0)}`;
    const path = loop ? `M${at(f.from, 0)}L${at(f.from, stem)}${turn}L${at(f.to, 0)}` : `M${at(f.from, 0)}${turn}`;
    const [a, b] = [number(f.from), number(f.to)];
    return {
      column: f.column, width: f.width, path, from: f.from, to: f.to, height: f.height, loop,
      gradient: { ...(down ? { x1: 0, y1: a, x2: 0, y2: b } : { x1: a, y1: 0, x2: b, y2: 0 }),
        at: +Math.min(INK_FROM / Math.abs(dx), 0.62).toFixed(3) },
    };
  }).sort((a, b) => b.height - a.height);
};
