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

/** One arc for each word that may be looked at, the farthest first (paint in this order). */
export const arcs = (_input: ArcInput): Arc[] => [];
