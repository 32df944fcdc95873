import { describe, expect, test } from "vitest";
import { across } from "../../src/scene/across";

const given = { from: 61, centres: [11, 37, 61, 89, 113], weights: [0.5, 0.3, 0.13, 0.07, 0], allowed: [true, true, true, true, false], widest: 34, depth: 101 };
const ends = (path: string) => {
  const n = path.match(/-?[\d.]+/g)!.map(Number);
  return { start: n.slice(0, 2), end: n.slice(-2) };
};

describe("across", () => {
  test("as wide as the weight, from the token that looks to the middle of each that is looked at", () => {
    const strands = across(given);
    expect(strands.map(({ column }) => column)).toEqual([0, 1, 2, 3]); // masked: no strand
    for (const { column, width, path } of strands) {
      expect(width).toBeCloseTo(34 * given.weights[column], 9);
      expect(ends(path).end).toEqual([given.centres[column], 101]);
      expect(ends(path).start[1]).toBe(0);
    }
  });
  test("feet side by side, in the order of what they lead to, the bundle centred on the token", () => {
    const strands = across(given).sort((a, b) => a.column - b.column);
    const feet = strands.map(({ path, width }) => [ends(path).start[0] - width / 2, ends(path).start[0] + width / 2]);
    for (let i = 1; i < feet.length; i++) expect(Math.abs(feet[i][0] - feet[i - 1][1] - 1.6)).toBeLessThan(0.11);
    expect(Math.abs((feet[0][0] + feet.at(-1)![1]) / 2 - 61)).toBeLessThan(0.11);
  });
  test("a weight that exists is seen, and the gaps of many do not widen the bundle by more than a third", () => {
    const n = 97;
    const strands = across({ ...given, centres: Array.from({ length: n }, (_, i) => 7 * i), weights: [1, ...Array<number>(n - 1).fill(0)], allowed: Array<boolean>(n).fill(true) });
    expect(Math.min(...strands.map(({ width }) => width))).toBe(1);
    const edges = strands.flatMap(({ path, width }) => [ends(path).start[0] - width / 2, ends(path).start[0] + width / 2]);
    const sum = strands.reduce((total, { width }) => total + width, 0);
    expect(Math.max(...edges) - Math.min(...edges) - sum).toBeLessThanOrEqual(34 / 3 + 0.2);
  });
  test("nobody to look at: nothing", () => expect(across({ ...given, allowed: given.allowed.map(() => false) })).toEqual([]));
});
