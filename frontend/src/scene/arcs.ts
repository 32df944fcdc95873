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
// A bundle of 34 wants words 54 px apart. In a sentence of shorter words it is thinner: for all its words alike.
const APART = 1.6;

interface Foot { column: number; width: number; from: number; to: number; height: number }

/** Points along an arc's or a loop's middle line pushed outwards by `by`: (along the line, above it). */
const outline = ({ from, to, height }: Foot, by: number, stem: number): [number, number][] => {
  const half = Math.abs(to - from) / 2;
  const rise = height - stem;
  return Array.from({ length: 31 }, (_, i) => {
    const [c, s] = [Math.cos((i * Math.PI) / 30), Math.sin((i * Math.PI) / 30)];
    const normal = Math.hypot(c * rise, s * half);
    return [(from + to) / 2 + c * (half + (by * rise) / normal), stem + s * (rise + (by * half) / normal)];
  });
};

/** The height at which `outer` clears `inner`: tops apart by CLEAR, edges that never cross. An ellipse that is tangent
 *  to another at the foot holds it only if it is no more curved there; what strokes add to that is measured. */
const clearing = (outer: Foot, inner: Foot, gap: number, stem: number): number => {
  const [half, rise, w, v] = [Math.abs(outer.to - outer.from) / 2, inner.height + inner.width / 2, outer.width / 2, inner.width / 2];
  const held = Math.abs(inner.to - inner.from) / 2 + v;
  const curved = half > w ? w + rise * Math.sqrt((half - w) / held) : 0;
  const middle = (outer.from + outer.to) / 2;
  const measured = outline(inner, w + v + gap / 2, stem).map(([x, y]) => {
    const u = (x - middle) / half;
    return Math.abs(u) < 1 ? y / Math.sqrt(1 - u * u) : 0;
  });
  return Math.max(inner.height + w + v + CLEAR, curved, ...measured);
};

/** One arc for each word that may be looked at, the farthest first (paint in this order). */
export const arcs = ({ centres, weights, allowed, chosen, size, depth = 208, down = false }: ArcInput): Arc[] => {
  const [widest, steep, floor] = SIZES[size];
  const apart = Math.min(...centres.slice(1).map((c, i) => c - centres[i]), APART * widest);
  const bundle = Math.max(apart / APART, 4);
  const unit = bundle / 34; // what is measured at full size, at this one
  const gap = 1.6 * unit;
  const stem = 9 * unit;
  const foot = (column: number): Foot =>
    ({ column, width: Math.max(bundle * weights[column], floor), from: 0, to: centres[column], height: 0 });

  // Side by side on the chosen word: left near…far, right far…near, then itself.
  const seen = centres.map((_, j) => j).filter((j) => allowed[j]);
  const left = seen.filter((j) => j < chosen).reverse().map(foot);
  const right = seen.filter((j) => j > chosen).map(foot);
  const self = allowed[chosen] ? foot(chosen) : undefined;
  const radius = self ? Math.max(11 * unit, self.width / 2 + 6 * unit) : 0;
  let edge = 0;
  for (const f of [...left, ...[...right].reverse(), ...(self ? [self] : [])]) {
    if (edge) edge += f === self && right.length ? 7 * unit : gap;
    f.from = edge + f.width / 2;
    edge += f.width;
  }
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
        f.height = Math.max(wanted, f.width / 2 + CLEAR, inner ? clearing(f, inner, gap, inner === self ? stem : 0) : 0);
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
