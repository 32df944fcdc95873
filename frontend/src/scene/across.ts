/** The strands from one token to those of another sequence, which stands below it: their widths are the softmax. Pixels;
 *  y grows downwards. Cross-attention's picture, as the arcs are that of self-attention. */
export interface AcrossInput {
  /** The middle of the token that looks, and of each that is looked at. */
  from: number;
  centres: number[];
  weights: number[];
  allowed: boolean[];
  /** Width of the whole bundle. */
  widest: number;
  /** From the one row of tokens to the other. */
  depth: number;
}

export interface Strand {
  column: number;
  /** Stroke width, in pixels; butt ends. */
  width: number;
  /** For the d of a path with fill none. */
  path: string;
  /** A linearGradient in user space, coral at (x1, y1), ink from `at` (0 to 1) of the way to (x2, y2). */
  gradient: { x1: number; y1: number; x2: number; y2: number; at: number };
}

const GAP = 1.6; // between two feet
const FLOOR = 1; // a weight that exists is seen

/** One strand for each token that may be looked at, the thinnest last, so that it is not hidden (paint in this order).
 *  Their feet stand side by side on the token that looks, in the order of those that they lead to: none crosses another. */
export const across = ({ from, centres, weights, allowed, widest, depth }: AcrossInput): Strand[] => {
  const seen = centres.map((_, column) => column).filter((column) => allowed[column]);
  const widths = seen.map((column) => Math.max(widest * weights[column], FLOOR));
  // Where many are looked at, the gaps must not make the bundle wider than the softmax is.
  const gap = Math.min(GAP, widest / 3 / Math.max(seen.length - 1, 1));
  let edge = from - (widths.reduce((sum, w) => sum + w, 0) + gap * (seen.length - 1)) / 2;
  const number = (x: number) => +x.toFixed(1);
  return seen.map((column, i) => {
    const x1 = number(edge + widths[i] / 2);
    const x2 = number(centres[column]);
    edge += widths[i] + gap;
    const middle = number(depth / 2);
    return {
      column, width: widths[i],
      path: `M${x1} 0C${x1} ${middle} ${x2} ${middle} ${x2} ${number(depth)}`,
      gradient: { x1, y1: 0, x2, y2: depth, at: 0.62 },
    };
  }).sort((a, b) => b.width - a.width);
};
