/** The same functions are compared with the library's numbers in tests/views/test_scene_twins.py. */
import { describe, expect, test } from "vitest";
import { look, most, parseScene, type Mask, type Scene } from "../../src/scene/scene";
import { random } from "./random";

const scene = (more: Partial<Scene> = {}, rows = 2, columns = 3): Scene => {
  const names = (n: number) => Array.from({ length: n }, (_, i) => "w" + i);
  const { value, fault } = parseScene({
    version: 1, rows: names(rows), columns: names(columns),
    query: names(rows).map((_, i) => [1, i, -i]), key: names(columns).map((_, j) => [j, 1, j * j]), ...more,
  });
  expect(fault).toBeUndefined();
  return value!;
};
const who = (masks: Mask[], rows: number, columns: number) =>
  Array.from({ length: rows }, (_, i) => look(scene({ masks }, rows, columns), i).allowed.map((a) => (a ? "1" : "0")).join(""));

test("softmax of the scores, worked by hand: the three words of the lesson", () => {
  const { value } = parseScene({ version: 1, rows: ["Ana", "sacó", "plata"], columns: ["Ana", "sacó", "plata"],
    query: [[0, 1], [1, 1], [2, 0]], key: [[0, 2], [1, 0], [2, 1]], value: [[1, 0], [0, 1], [1, 1]] });
  const round = (xs: number[]) => xs.map((x) => +x.toFixed(2));
  const looks = [0, 1, 2].map((i) => look(value!, i));
  expect(looks.map((l) => round(l.scores))).toEqual([[1.41, 0, 0.71], [1.41, 0.71, 2.12], [0, 1.41, 2.83]]);
  expect(looks.map((l) => round(l.weights))).toEqual([[0.58, 0.14, 0.28], [0.28, 0.14, 0.58], [0.05, 0.19, 0.77]]);
  expect(looks.map((l) => round(l.output))).toEqual([[0.86, 0.42], [0.86, 0.72], [0.81, 0.95]]);
});

describe("who may look at whom", () => {
  test("causal counts from the end: the rows are the last columns", () => {
    expect(who([{ kind: "causal" }], 2, 3)).toEqual(["110", "111"]);
    expect(who([{ kind: "causal" }], 3, 3)).toEqual(["100", "110", "111"]);
    expect(who([{ kind: "causal" }], 3, 2)).toEqual(["00", "10", "11"]); // pytorch#103082: one query of eight sees all
  });

  test("window, padding on both sides, blocked, and all of them together", () => {
    expect(who([{ kind: "window", size: 1 }], 2, 3)).toEqual(["010", "001"]);
    expect(who([{ kind: "window", size: 2 }], 3, 3)).toEqual(["110", "111", "011"]);
    expect(who([{ kind: "padding", length: 2, side: "right" }], 1, 5)).toEqual(["11000"]);
    expect(who([{ kind: "padding", length: 2, side: "left" }], 1, 5)).toEqual(["00011"]);
    expect(who([{ kind: "blocked", table: [[true, false], [false, true]] }], 2, 2)).toEqual(["01", "10"]);
    expect(who([{ kind: "causal" }, { kind: "window", size: 2 }], 3, 3)).toEqual(["100", "110", "011"]);
  });

  test("nobody to look at: weights and output are zero", () => {
    const hidden = look(scene({ masks: [{ kind: "padding", length: 0, side: "right" }], value: [[1], [2], [3]] }), 0);
    expect(hidden).toMatchObject({ weights: [0, 0, 0], output: [0], kinds: ["masked", "masked", "masked"] });
    expect(most(hidden)).toBe(-1);
  });

  test("a bias is added after the temperature, biases add up, and a very negative one does not mask", () => {
    const masks: Mask[] = [{ kind: "bias", table: [[0, 1, -1e9]] }, { kind: "bias", table: [[0, 1, 0]] }];
    const { scores, allowed, kinds } = look(scene({ masks, temperature: 4, scale: 1, key: [[4, 0, 0], [8, 0, 0], [4, 0, 0]] }, 1, 3), 0);
    expect(scores).toEqual([1, 4, 1 - 1e9]);
    expect(allowed).toEqual([true, true, true]);
    expect(kinds).toEqual(["seen", "seen", "tiny"]);
  });
});

test("tiny begins under half a per cent", () => {
  const at = (w: number) => look(scene({ query: [[Math.log(w / (1 - w)), 0, 0]], key: [[1, 0, 0], [0, 0, 0]], scale: 1 }, 1, 2), 0).kinds[0];
  expect([0.0049, 0.0051].map(at)).toEqual(["tiny", "seen"]);
});

test("rows sum to one and stay finite at any temperature and size", () => {
  const r = random(3);
  for (let round = 0; round < 300; round++) {
    const [rows, columns] = [r.whole(1, 4), r.whole(1, 5)];
    const size = 10 ** r.between(-8, 59);
    const vectors = (n: number) => Array.from({ length: n }, () => [r.between(-1, 1) * size, r.between(-1, 1) * size, 0]);
    const made = scene({ query: vectors(rows), key: vectors(columns), temperature: 10 ** r.between(-59, 59) }, rows, columns);
    for (let i = 0; i < rows; i++) {
      const { weights } = look(made, i);
      expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
    }
  }
});

test("a low temperature gives all to the largest score, a high one spreads; the order stays", () => {
  const at = (temperature: number) => look(scene({ temperature, query: [[1, 0]], key: [[0.3, 1], [0.4, -1], [-0.2, 2]] }, 1, 3), 0).weights;
  const order = (w: number[]) => w.map((_, i) => i).sort((a, b) => w[b] - w[a]);
  expect(at(1e-6)).toEqual([0, 1, 0]);
  for (const w of at(1e30)) expect(w).toBeCloseTo(1 / 3, 12);
  for (const t of [0.1, 1, 10]) expect(order(at(t))).toEqual([1, 0, 2]);
});

test("most: the first of equals", () => {
  expect(most({ weights: [0.2, 0.4, 0.4], allowed: [true, true, true] })).toBe(1);
  expect(most({ weights: [0, 0, 0], allowed: [false, true, true] })).toBe(1);
});
