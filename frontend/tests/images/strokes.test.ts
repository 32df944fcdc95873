import { describe, expect, test } from "vitest";
import { patchOf } from "../../src/images/pixels";
import { blank, cellsOf, type Point } from "../../src/images/strokes";

const seven: Point[][] = [[[0.3, 0.2], [0.7, 0.2], [0.45, 0.9]]];
const moved = (strokes: Point[][], scale: number, dx: number, dy: number) =>
  strokes.map((stroke) => stroke.map(([x, y]): Point => [scale * x + dx, scale * y + dy]));

describe("a digit drawn by hand", () => {
  test("nothing drawn is nothing", () => {
    expect(cellsOf([], 1)).toEqual(blank());
    expect(cellsOf([[]], 1)).toEqual(blank());
  });

  test("counts of 16, as large as fits, in the middle", () => {
    const cells = cellsOf(seven, 1);
    expect(Math.min(...cells)).toBe(0);
    expect(Math.max(...cells)).toBe(16);
    const rows = Array.from({ length: 8 }, (_, y) => cells.slice(8 * y, 8 * y + 8).reduce((a, b) => a + b));
    expect(rows[0]).toBeGreaterThan(0);
    expect(rows[7]).toBeGreaterThan(0);
    expect(rows[0]).toBeGreaterThan(rows[4]); // the bar is above
    const columns = [0, 7].map((x) => cells.filter((_, i) => i % 8 === x).reduce((a, b) => a + b));
    expect(columns).toEqual([0, 0]); // narrower than high
  });

  test.each([[0.5, 0.1, 0.3], [1, 0.2, 0], [0.31, 0, 0]])("wherever and however large it stands (%d)", (scale, dx, dy) => {
    const [a, b] = [cellsOf(seven, 1), cellsOf(moved(seven, scale, dx, dy), 1)];
    a.forEach((x, i) => expect(Math.abs(x - b[i])).toBeLessThanOrEqual(1)); // dots at the edge may fall either way
  });

  test("a dot stays a dot, a line stays thin", () => {
    const dot = cellsOf([[[0.1, 0.9]]], 1);
    expect(dot.filter(Boolean)).toHaveLength(4);
    expect(dot.reduce((a, b) => a + b)).toBeLessThan(32);
    const line = cellsOf([[[0.5, 0.1], [0.5, 0.9]]], 1);
    line.forEach((x, i) => expect(x > 0).toBe(i % 8 === 3 || i % 8 === 4));
  });

  test("a break between two lines stays one", () => {
    const two = cellsOf([[[0.1, 0.1], [0.1, 0.9]], [[0.9, 0.1], [0.9, 0.9]]], 1);
    expect(two[4 * 8 + 3] + two[4 * 8 + 4]).toBe(0);
  });
});

test("a patch is its first channel row after row, then the next: patch 11 of the lesson's picture is row 1, column 1", () => {
  const values = [0, 1, 2].map((c) => Array.from({ length: 96 }, (_, y) => Array.from({ length: 160 }, (_, x) => 1e6 * c + 1e3 * y + x)));
  const [red, , blue] = patchOf(values, 16, 10, 11);
  expect(red).toHaveLength(256);
  expect([red[0], red[15], red[16], red[255]]).toEqual([16016, 16031, 17016, 31031]);
  expect(blue[0]).toBe(2016016);
});
