import { look, type Scene } from "./scene";

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

export const sum = (scene: Scene, row: number, column: number): Sum => {
  const { scores, weights, allowed } = look(scene, row);
  const terms = scene.query[row].map((query, i) => ({ query, key: scene.key[column][i], product: query * scene.key[column][i] }));
  const product = terms.reduce((a, t) => a + t.product, 0);
  const divisor = scene.temperature / scene.scale;
  const seen = scores.filter((_, j) => allowed[j]);
  const top = Math.max(...seen);
  const shift = Math.abs(top) > 12 && seen.length ? top : 0;
  const total = seen.reduce((a, s) => a + Math.exp(s - shift), 0);
  return {
    terms, product, divisor, bias: scores[column] - product / divisor, score: scores[column], shift,
    exponential: allowed[column] ? Math.exp(scores[column] - shift) : 0, total, count: seen.length,
    share: weights[column], masked: !allowed[column], shares: weights,
  };
};
