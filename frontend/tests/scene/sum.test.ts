import { expect, test } from "vitest";
import { look, parseScene, type Mask } from "../../src/scene/scene";
import { sum } from "../../src/scene/sum";
import { reduce, sceneOf, start } from "../../src/words/state";
import { random } from "./random";

test("where the 61 % of plata comes from, as the page prints it", () => {
  const s = sum(sceneOf(start("money", "es")), 6, 3);
  expect(s.terms.map((t) => [t.query, t.key])).toEqual([[0.9, 0.9], [1.9, 0.9]]);
  const two = (x: number) => x.toFixed(2);
  expect([s.product, s.divisor, s.score, s.exponential, s.total, s.share].map(two)).toEqual(["2.52", "1.41", "1.78", "5.94", "9.78", "0.61"]);
  expect(s).toMatchObject({ shift: 0, bias: 0, count: 7, masked: false });
});

test("each line follows from the one before, in any scene", () => {
  const r = random(37);
  for (let round = 0; round < 200; round++) {
    const [rows, columns] = [r.whole(1, 3), r.whole(1, 5)];
    const table = (cell: () => unknown) => Array.from({ length: rows }, () => Array.from({ length: columns }, cell));
    const vectors = (n: number) => Array.from({ length: n }, () => [r.between(-3, 3), r.between(-3, 3), r.between(-3, 3)]);
    const names = (n: number) => Array.from({ length: n }, String);
    const scene = parseScene({
      version: 1, rows: names(rows), columns: names(columns), query: vectors(rows), key: vectors(columns), temperature: 10 ** r.between(-2, 1),
      masks: r.pick([[], [{ kind: "causal" }], [{ kind: "bias", table: table(() => r.between(-1, 1)) }, { kind: "blocked", table: table(() => r.next() < 0.3) }]] as Mask[][]),
    }).value!;
    const [row, column] = [r.whole(0, rows - 1), r.whole(0, columns - 1)];
    const s = sum(scene, row, column);
    expect(s.terms.reduce((a, t) => a + t.query * t.key, 0)).toBeCloseTo(s.product, 9);
    expect(s.terms.reduce((a, t) => a + t.product, 0)).toBeCloseTo(s.product, 9);
    expect((s.product / s.divisor + s.bias) / s.score).toBeCloseTo(1, 9);
    expect(s.count).toBe(look(scene, row).allowed.filter(Boolean).length);
    if (s.masked) expect([s.share, s.exponential]).toEqual([0, 0]);
    else {
      expect(s.exponential).toBeCloseTo(Math.exp(s.score - s.shift), 9);
      expect(s.exponential / s.total).toBeCloseTo(s.share, 12);
    }
    expect(s.shares).toEqual(look(scene, row).weights);
  }
});

test("exponentials that nobody could read are taken relative to the largest", () => {
  const cold = reduce(start("money", "es"), { type: "temperature", value: 0.1 }, "es");
  const s = sum(sceneOf(cold), 6, 3);
  expect(s.shift).toBeCloseTo(17.82, 2);
  expect(s.exponential).toBe(1); // plata is the largest
  expect(s.total).toBeGreaterThan(1);
  expect(s.total).toBeLessThan(2);
});

test("nobody to look at", () => {
  const scene = { ...sceneOf(start("money", "es")), masks: [{ kind: "padding", length: 0, side: "left" } as Mask] };
  expect(sum(scene, 0, 0)).toMatchObject({ masked: true, total: 0, count: 0, shift: 0, share: 0, exponential: 0 });
});
