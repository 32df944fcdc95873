/** What the lesson says of the hand-made words; tests/views/test_words_data.py says the same of the same data file
 *  through the library. */
import { describe, expect, test } from "vitest";
import type { Language } from "../../src/scene/percent";
import { look, most, type Scene } from "../../src/scene/scene";
import { ids, PARTS, RANGE, STEP, texts, vector, type Given, type Vector } from "../../src/words/sentences";
import { reduce, sceneOf, start, type Action, type WordsState } from "../../src/words/state";

const LANGUAGES: Language[] = ["es", "en"];
/** Whom each word may look at first, a linguist agreeing: a verb and its subject, an article and its noun… */
const FIRST: Record<Given, Record<string, string>> = {
  money: { ana: "guardo", guardo: "ana", la: "plata", plata: "banco", en: "banco", el: "banco", banco: "plata" },
  seat: { ana: "se", se: "ana", sento: "ana", en: "banco", el: "banco", banco: "plaza", de: "plaza", la: "plaza", plaza: "banco" },
};
const after = (state: WordsState, ...actions: Action[]) => actions.reduce((s, a) => reduce(s, a, "es"), state);
const tops = (scene: Scene) => scene.rows.map((_, i) => most(look(scene, i)));

describe.each(LANGUAGES)("in %s", (language) => {
  const money = start("money", language);
  const names = ids("money", language);
  const at = (id: string) => names.indexOf(id);

  test("the start: banco chosen, T = 1, nobody hidden", () => {
    expect(names[money.chosen]).toBe("banco");
    expect(money).toMatchObject({ sentence: "money", temperature: 1, causal: false, pinned: null });
    expect(money.words.join(" ")).toBe({ es: "Ana guardó la plata en el banco", en: "Ana kept the money in the bank" }[language]);
    expect(start("seat", language).words.join(" "))
      .toBe({ es: "Ana se sentó en el banco de la plaza", en: "Ana sat down on the bank of the river" }[language]);
  });

  test("banco looks at plata with 61 % and then at itself with 28 %", () => {
    const { weights } = look(sceneOf(money), at("banco"));
    const order = weights.map((_, i) => i).sort((a, b) => weights[b] - weights[a]);
    expect(order.slice(0, 2)).toEqual([at("plata"), at("banco")]);
    expect(Math.round(100 * weights[at("plata")])).toBe(61);
    expect(Math.round(100 * weights[at("banco")])).toBe(28);
  });

  test.each(["money", "seat"] as const)("each word's first choice is one that a linguist would accept: %s", (sentence) => {
    const names = ids(sentence, language);
    expect(Object.fromEntries(tops(sceneOf(start(sentence, language))).map((j, i) => [names[i], names[j]]))).toEqual(FIRST[sentence]);
  });

  test("with the causal mask el looks at plata, clearly, and Ana only at herself", () => {
    const scene = sceneOf(after(money, { type: "causal", on: true }));
    const el = look(scene, at("el"));
    expect(el.weights[at("banco")]).toBe(0);
    expect(most(el)).toBe(at("plata"));
    const [first, second] = [...el.weights].sort((a, b) => b - a);
    expect(first).toBeGreaterThan(3 * second);
    expect(look(scene, at("ana")).weights).toEqual(names.map((id) => (id === "ana" ? 1 : 0)));
  });

  test("banco's query can be dragged to where it looks chiefly at Ana: towards her key", () => {
    const key = money.key[at("ana")];
    const dragged = after(money, { type: "move", which: "query", index: at("banco"), to: [-1.8, 0.5] });
    expect(most(look(sceneOf(dragged), at("banco")))).toBe(at("ana"));
    const there = after(money, { type: "move", which: "query", index: at("banco"), to: key });
    expect(most(look(sceneOf(there), at("banco")))).toBe(at("ana"));
  });

  test("plata's key at the edge, in its own direction: five words or more look chiefly at it, and Ana less", () => {
    const dragged = sceneOf(after(money, { type: "move", which: "key", index: at("plata"), to: [2.5, 2.5] }));
    expect(tops(dragged).filter((j) => j === at("plata")).length).toBeGreaterThanOrEqual(5);
    names.forEach((id, i) => {
      const less = look(dragged, i).weights[at("plata")] < look(sceneOf(money), i).weights[at("plata")];
      expect(less, id).toBe(id === "ana");
    });
  });

  test("at T = 0.1 nearly all on one word; at T = 10 no two scores that differ give the same weight", () => {
    const [cold, hot] = [0.1, 10].map((value) => sceneOf(after(money, { type: "temperature", value })));
    names.forEach((_, i) => {
      expect(Math.max(...look(cold, i).weights)).toBeGreaterThan(0.9);
      const { scores, weights } = look(hot, i);
      scores.forEach((s, a) => scores.forEach((t, b) => {
        if (s > t) expect(weights[a]).toBeGreaterThan(weights[b]);
      }));
    });
  });

  test("banco has the same vectors in both sentences, and takes money from one and a seat from the other", () => {
    const seat = start("seat", language);
    const there = ids("seat", language).indexOf("banco");
    for (const part of PARTS) expect(seat[part][there]).toEqual(money[part][at("banco")]);
    const rounded = (s: WordsState, i: number) => look(sceneOf(s), i).output.map((x) => +x.toFixed(2));
    expect(rounded(money, at("banco"))).toEqual([1.56, 0.34]);
    expect(rounded(seat, there)).toEqual([0.49, 1.65]);
  });
});

test("every vector is two numbers on the grid, inside the plane", () => {
  for (const sentence of ["money", "seat"] as const) for (const id of ids(sentence, "es")) for (const part of PARTS) {
    const v: Vector = vector(id, part);
    expect(v).toHaveLength(2);
    for (const x of v) {
      expect(Math.abs(x)).toBeLessThanOrEqual(RANGE);
      expect(+(Math.round(x / STEP) * STEP).toFixed(9)).toBe(x);
    }
  }
});

test("both languages have the same words; in English two share a text", () => {
  for (const sentence of ["money", "seat"] as const) {
    expect([...ids(sentence, "en")].sort()).toEqual([...ids(sentence, "es")].sort());
    expect(new Set(ids(sentence, "es")).size).toBe(ids(sentence, "es").length);
    expect(texts(sentence, "en").filter((w) => w === "the")).toHaveLength(2);
  }
  expect(ids("seat", "en").slice(1, 3)).toEqual(["sento", "se"]); // sat takes sentó's vectors, down se's
});
