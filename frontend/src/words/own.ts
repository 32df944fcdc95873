import type { Result } from "../scene/fault";
import type { Vector } from "./sentences";

export const FEWEST = 2;
export const MOST = 12;

/** The words of a sentence somebody typed, 2 to 12, separated by white space; punctuation stays with its word. */
export const readOwn = (typed: string): Result<string[]> => {
  const words = typed.split(/\s+/).filter(Boolean);
  if (!words.length) return { fault: { code: "own.empty" } };
  if (words.length < FEWEST) return { fault: { code: "own.one" } };
  if (words.length > MOST) return { fault: { code: "own.many", got: words.length, want: MOST } };
  return { value: words };
};

/** Starting vectors for that many words. */
export const ownVectors = (count: number): { query: Vector[]; key: Vector[]; value: Vector[] } => {
  const at = (angle: number, radius: number): Vector =>
    [Math.cos(angle), Math.sin(angle)].map((x) => Math.round(10 * radius * x) / 10 || 0) as Vector;
  const make = (f: (i: number) => Vector) => Array.from({ length: count }, (_, i) => f(i));
  return { query: make((i) => at(2.4 * i + 1, 1.6)), key: make((i) => at(2.4 * i, 1.5)), value: make((i) => at(2.4 * i, 1)) };
};
