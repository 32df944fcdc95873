import { expect, test } from "vitest";
import { percents } from "../../src/scene/percent";
import { look, parseScene, type Scene } from "../../src/scene/scene";
import { fill, nameOf, summary } from "../../src/scene/summary";
import { reduce, sceneOf, start, type Action } from "../../src/words/state";
import { random } from "./random";

/** A scene whose one row looks at its columns with these weights (0: masked). */
const weighted = (weights: number[], row = 0): Scene => parseScene({
  version: 1, rows: weights.map((_, i) => "w" + i), columns: weights.map((_, i) => "w" + i), scale: 1,
  query: weights.map(() => [1]), key: weights.map((w) => [w ? Math.log(w) : 0]),
  masks: [{ kind: "blocked", table: weights.map((_, i) => weights.map((w) => i === row && !w)) }],
}).value!;
const key = (weights: number[]) => summary(weighted(weights), 0).key;
const money = (...actions: Action[]) => sceneOf(actions.reduce((s, a) => reduce(s, a, "es"), start("money", "es")));

test("banco at the start: chiefly plata, then itself", () => {
  expect(summary(money(), 6)).toEqual({
    key: "two", chosen: { index: 6, text: "banco" }, together: 89,
    looked: [{ index: 3, text: "plata", self: false, percent: 61 }, { index: 6, text: "banco", self: true, percent: 28 }],
  });
});

test("one key for each way of looking", () => {
  expect(key([0, 0, 0])).toBe("nobody");
  expect(key([1, 0, 0])).toBe("only");
  expect(key([0.97, 0.02, 0.01])).toBe("nearly");
  expect(key([0.949, 0.041, 0.01])).toBe("two");
  expect(key([0.4, 0.4, 0.2])).toBe("tie");
  expect(key([0.3, 0.3, 0.3, 0.1])).toBe("ties");
  expect(key([0.16, 0.14, 0.14, 0.14, 0.14, 0.14, 0.14])).toBe("even");
  expect(key([0.6, 0.4])).toBe("two"); // of two words, six against four is no tie
  expect(key([0.25, 0.25, 0.25, 0.25])).toBe("same");
  expect(key([0.5, 0.5, 0])).toBe("same");
});

test("what it names: nobody, one, two, or all that are tied; together as the picture adds them up", () => {
  expect(summary(weighted([0.1, 0.3, 0.3, 0.3]), 0).looked.map((l) => l.index)).toEqual([1, 2, 3]);
  expect(summary(weighted([0.2, 0.4, 0.4]), 0)).toMatchObject({ together: 80 });
  expect(summary(weighted([0, 0]), 0).looked).toEqual([]);
  expect(summary(weighted([0.3, 0.7], 1), 1).looked.map((l) => l.self)).toEqual([true, false]);
});

test("products that are equal, but for the last digit of a computer's arithmetic, are a tie", () => {
  const { value } = parseScene({ version: 1, rows: ["a"], columns: ["a", "b", "c"], temperature: 0.01, query: [[0.3, 0.1]], key: [[0.1, 0.7], [0.2, 0.4], [-1, 0]] });
  const { weights } = look(value!, 0);
  expect(weights[0]).not.toBe(weights[1]);
  expect(summary(value!, 0).key).toBe("tie");
});

test("the page at its ends: T = 10, T = 0.1, causal, a query of length 0", () => {
  const at = (row: number, ...actions: Action[]) => summary(money(...actions), row).key;
  expect(at(6, { type: "temperature", value: 10 })).toBe("even");
  expect(at(6, { type: "temperature", value: 0.1 })).toBe("nearly");
  expect(at(0, { type: "causal", on: true })).toBe("only");
  expect(at(6, { type: "move", which: "query", index: 6, to: [0, 0] })).toBe("same");
});

test("its per cents are those of the picture, in falling order", () => {
  const r = random(43);
  for (let round = 0; round < 300; round++) {
    const scene = weighted(r.weights(r.whole(1, 12)));
    const { weights, allowed } = look(scene, 0);
    const parts = percents(weights, allowed);
    const { looked, together } = summary(scene, 0);
    for (const l of looked) expect(l.percent).toBe(parts[l.index]);
    looked.slice(1).forEach((l, i) => expect(weights[l.index]).toBeLessThanOrEqual(weights[looked[i].index] + 1e-9));
    expect(together).toBe(looked.reduce((a, l) => a + l.percent, 0));
  }
});

test("a word that stands twice in the sentence is named with a neighbour", () => {
  const words = "Ana kept the money in the bank".split(" ");
  expect(nameOf(words, 2)).toEqual({ index: 2, text: "the", near: { side: "before", text: "money" } });
  expect(nameOf(words, 5)).toEqual({ index: 5, text: "the", near: { side: "before", text: "bank" } });
  expect(nameOf(words, 3)).toEqual({ index: 3, text: "money" });
  const twice = "a b c a b d b".split(" ");
  expect(nameOf(twice, 0)).toEqual({ index: 0, text: "a", near: { side: "before", text: "b" } }); // neither side tells them apart… but
  expect(nameOf(twice, 3)).toEqual({ index: 3, text: "a", near: { side: "after", text: "c" } });
  expect(nameOf(twice, 6)).toEqual({ index: 6, text: "b", near: { side: "after", text: "d" } });
  expect(nameOf(["no", "no"], 1)).toEqual({ index: 1, text: "no", near: { side: "after", text: "no" } });
});

test("fill puts pieces into a template and touches nothing else", () => {
  expect(fill("«{chosen}» mira {0} ({p0}).", { chosen: { text: "{0}", role: "chosen" }, 0: [{ text: "a " }, { text: "x", role: "key" }] }))
    .toEqual([{ text: "«" }, { text: "{0}", role: "chosen" }, { text: "» mira " }, { text: "a " }, { text: "x", role: "key" },
      { text: " (" }, { text: "{p0}" }, { text: ")." }]);
  expect(fill("{constructor}", {})).toEqual([{ text: "{constructor}" }]);
});
