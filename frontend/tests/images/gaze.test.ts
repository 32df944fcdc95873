/** numbers.json is what mirada computes in float64: tests/lab/test_image_numbers.py holds it to the library. */
import { describe, expect, test } from "vitest";
import type { Seen } from "../../src/images/api";
import { toCsv } from "../../src/images/csv";
import { blocksOf, clearness, gazed, headsOf, mean, most, rollout, tableOf, tokenOf, viewed, type Table } from "../../src/images/gaze";
import type { Scene } from "../../src/scene/scene";
import numbers from "./numbers.json";

const tokens = ["[CLS]", "0", "1", "2", "3", "4", "5"];
const seen = { pixels: "", grid: [2, 3], patch: 5, channels: 1, tokens, probabilities: null, scenes: numbers.scenes } as unknown as Seen;
const near = (ours: Table, theirs: Table) => ours.forEach((row, i) => row.forEach((w, j) => expect(w).toBeCloseTo(theirs[i][j], 13)));

describe("the library's numbers", () => {
  test.each(["1", "0.25"] as const)("softmax at T = %s", (t) => {
    for (const { block, head, scene } of numbers.scenes) near(tableOf(scene as unknown as Scene, +t), numbers.weights[t][block][head]);
  });

  test.each(["1", "0.25"] as const)("rollout at T = %s: the first block stands on the right of the product", (t) => {
    near(rollout(numbers.weights[t].map(mean)), numbers.rollout[t]);
    near(viewed(seen, { block: 2, head: null, rollout: true, temperature: +t }), numbers.rollout[t]);
  });
});

describe("what is chosen", () => {
  const view = { block: 1, head: 1, rollout: false, temperature: 1 };

  test("a head, the mean of heads, and no more than there is", () => {
    expect([blocksOf(seen), headsOf(seen)]).toEqual([3, 2]);
    near(viewed(seen, view), numbers.weights["1"][1][1]);
    near(viewed(seen, { ...view, head: null }), mean(numbers.weights["1"][1]));
    near(viewed(seen, { ...view, block: 9, head: 9 }), numbers.weights["1"][2][1]);
  });

  test("rollout of one block is half itself, half its looks; every row sums to 1", () => {
    const one = viewed(seen, { ...view, block: 0, rollout: true });
    const heads = mean(numbers.weights["1"][0]);
    near(one, heads.map((row, i) => row.map((w, j) => w / 2 + (i === j ? 0.5 : 0))));
    for (const row of viewed(seen, { ...view, block: 2, rollout: true })) expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });

  test("the weight on [CLS] stands apart from the patches", () => {
    const table = numbers.weights["1"][0][0];
    expect(gazed(table, tokens, -1)).toEqual({ cls: table[0][0], patches: table[0].slice(1) });
    expect(gazed(table, tokens, 4)).toEqual({ cls: table[5][0], patches: table[5].slice(1) });
    const without = tokens.slice(1);
    const small = table.slice(1).map((row) => row.slice(1));
    expect(gazed(small, without, 2)).toEqual({ cls: null, patches: small[2] });
    expect([tokenOf(tokens, 99), tokenOf(without, -1)]).toEqual([6, 0]);
  });

  test("most looked at, equals in the order in which they are read", () => {
    expect(most({ patches: [0.1, 0.4, 0.1], cls: 0.4 }, 3).map(({ at }) => at)).toEqual([-1, 1, 0]);
    expect(most({ patches: [0.5, 0.5], cls: null }, 9).map(({ at }) => at)).toEqual([0, 1]);
  });

  test("the asker is no measure for the others", () => {
    expect(clearness([0.7, 0.1, 0.2], 0)).toEqual({ top: 0.2, clear: [1, 0.5, 1] });
    expect(clearness([0.7, 0.1, 0.2], -1).clear[2]).toBeCloseTo(2 / 7);
  });
});

test("every weight in a file, with row and column of each patch", () => {
  const lines = toCsv(numbers.weights["1"][0][0], tokens, 3, "es").split("\r\n");
  expect(lines[0]).toBe("\ufeffquién,a quién,fila,columna,peso");
  expect(lines).toHaveLength(1 + 49 + 1);
  expect(lines[1]).toBe(`[CLS],[CLS],,,${numbers.weights["1"][0][0][0][0]}`);
  expect(lines[13]).toBe(`0,4,1,1,${numbers.weights["1"][0][0][1][5]}`);
});
