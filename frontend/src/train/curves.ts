import type { Line } from "./api";

export interface Scale { low: number; high: number; from: number; to: number }
export const place = ({ low, high, from, to }: Scale, x: number): number => from + ((x - low) / (high - low || 1)) * (to - from);

export type Point = [step: number, value: number];

/** The loss while learning, and the share of digits that come out right in examinations. What is no number is left out. */
export const pointsOf = (metrics: Line[], of: "loss" | "tokens"): Point[] =>
  metrics.filter((line) => line.kind === (of === "loss" ? "training" : "validation") && typeof line[of] === "number")
    .map((line): Point => [line.step, line[of]!]);

/** A line through points, in pixels with one decimal. */
export const pathOf = (points: Point[], x: Scale, y: Scale): string =>
  points.map(([step, value], i) => `${i ? "L" : "M"}${+place(x, step).toFixed(1)} ${+place(y, value).toFixed(1)}`).join("");

/** The value at a step, on the line between its neighbours; null outside. */
export const valueAt = (points: Point[], step: number): number | null => {
  const i = points.findIndex(([s]) => s >= step);
  if (i < 0 || (i === 0 && points[0][0] !== step)) return null;
  if (points[i][0] === step) return points[i][1];
  const [[a, v], [b, w]] = [points[i - 1], points[i]];
  return v + ((step - a) / (b - a)) * (w - v);
};

/** Round numbers from 0 on, at most `most` of them after it, none beyond `high`. */
export const ticks = (high: number, most: number): number[] => {
  const rough = high / most;
  const ten = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => high / n <= most) ?? high;
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => +(i * step).toPrecision(12));
};
