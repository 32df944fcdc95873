import type { Result } from "../scene/fault";
import type { Vector } from "./sentences";

export const FEWEST = 2;
export const MOST = 12;

/** A letter, a digit, a sign, an emoji: something that can be seen. */
const VISIBLE = /[^\p{C}\p{Z}\p{M}]/u;

/** The words of a sentence somebody typed, 2 to 12. White space separates; punctuation stays with the word it was typed
 *  against, so what is shown is what was typed, and nothing is too long. Only what nobody can see is left out
 *  (zero-width characters on their own, control characters), and half an emoji becomes "\ufffd". */
export const readOwn = (typed: string): Result<string[]> => {
  const clean = typed.replace(/\p{Cs}/gu, "\ufffd").replace(/(?!\s)\p{Cc}/gu, "");
  const words = clean.split(/\s+/).filter((word) => VISIBLE.test(word));
  if (words.length < FEWEST) return { fault: { code: words.length ? "own.one" : "own.empty" } };
  if (words.length > MOST) return { fault: { code: "own.many", got: words.length, want: MOST } };
  return { value: words };
};

/** Starting vectors for that many words, the same every time. Keys stand in a ring, values in a smaller one, far enough
 *  from each other to be taken hold of; every query points to the key of the word before, and is shorter, so that its
 *  tip does not lie on it. */
export const ownVectors = (count: number): { query: Vector[]; key: Vector[]; value: Vector[] } => {
  const ring = (radius: number, middle: number, turn: number): Vector[] => Array.from({ length: count }, (_, i) => {
    const angle = Math.PI * (0.94 - (2 * (i + turn)) / count); // clockwise from the left, off the axes
    return [Math.cos(angle), Math.sin(angle)].map((x) => Math.round(10 * (middle + radius * x)) / 10 || 0) as Vector;
  });
  return { query: ring(1.2, 0, -1), key: ring(1.8, 0, 0), value: ring(1, 1.2, 0) };
};
