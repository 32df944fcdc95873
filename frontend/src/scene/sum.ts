import { dot, look, type Scene } from "./scene";

/** A bar's number, step by step. */
export interface Sum {
  /** query and key number by number */
  terms: { query: number; key: number; product: number }[];
  product: number;
  /** √d · T (more exactly T / scale) */
  divisor: number;
  /** Added after dividing; 0 unless the scene has biases. */
  bias: number;
  score: number;
  /** Taken from every score before the exponential (the largest score), because the exponentials could not be read
   *  otherwise; 0 when they can. It cancels in the share. */
  shift: number;
  exponential: number;
  total: number;
  /** How many exponentials the total adds up. */
  count: number;
  /** exponential / total; 0 when masked. */
  share: number;
  masked: boolean;
  /** The shares of the whole row, for the strip. */
  shares: number[];
}

// Beyond e¹² (162,755) an exponential says nothing to a reader: then every one is taken relative to the largest.
const READABLE = 12;

export const sum = (scene: Scene, row: number, column: number): Sum => {
  const { scores, weights, allowed } = look(scene, row);
  const key = scene.key[column];
  const seen = scores.filter((_, j) => allowed[j]);
  const top = Math.max(...seen); // -Infinity when there is nobody
  const shift = seen.length && Math.abs(top) > READABLE ? top : 0;
  return {
    terms: scene.query[row].map((query, i) => ({ query, key: key[i], product: query * key[i] })),
    product: dot(scene.query[row], key),
    divisor: scene.temperature / scene.scale,
    bias: scene.masks.reduce((b, m) => (m.kind === "bias" ? b + m.table[row][column] : b), 0),
    score: scores[column],
    shift,
    exponential: allowed[column] ? Math.exp(scores[column] - shift) : 0,
    total: seen.reduce((a, s) => a + Math.exp(s - shift), 0),
    count: seen.length,
    share: weights[column],
    masked: !allowed[column],
    shares: weights,
  };
};
