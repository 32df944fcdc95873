import { describe, expect, test } from "vitest";
import { ids, PARTS, texts, type Vector } from "../../src/words/sentences";
import { isStart, lookOf, moved, pinnedOf, reduce, sceneOf, snap, start, startOwn, type Action, type WordsState } from "../../src/words/state";
import { look, parseScene } from "../../src/scene/scene";

const es = start("money", "es");
const after = (state: WordsState, ...actions: Action[]) => actions.reduce((s, a) => reduce(s, a, "es"), state);
const move = (which: "query" | "key" | "value", index: number, to: Vector): Action => ({ type: "move", which, index, to });

test("a vector lands on the grid, inside the plane, and is never -0", () => {
  expect([1.23, 1.25, -9, 9, -0.04, 0.30000000000000004].map(snap)).toEqual([1.2, 1.3, -2.5, 2.5, 0, 0.3]);
  expect(after(es, move("key", 3, [0.949, 99])).key[3]).toEqual([0.9, 2.5]);
  for (let x = -25; x <= 25; x++) expect(snap(x / 10)).toBe(x / 10 || 0);
});

test("what changes nothing, or makes no sense, gives the same state back", () => {
  const nothing: Action[] = [
    { type: "choose", row: 6 }, { type: "choose", row: 7 }, { type: "choose", row: -1 }, { type: "choose", row: 1.5 },
    { type: "pin", column: null }, { type: "pin", column: 9 }, { type: "temperature", value: 1 }, { type: "temperature", value: NaN },
    { type: "causal", on: false }, { type: "sentence", id: "money" }, { type: "language", language: "es" },
    move("query", 6, [0.9, 1.9]), move("query", 6, [NaN, 1]), move("query", 8, [1, 1]),
  ];
  for (const action of nothing) expect(reduce(es, action, "es"), JSON.stringify(action)).toBe(es);
});

test("no action changes the state it is given", () => {
  const before = JSON.stringify(es);
  after(es, move("query", 6, [1, 2]), { type: "choose", row: 2 }, { type: "sentence", id: "seat" }, { type: "language", language: "en" }, { type: "reset" });
  expect(JSON.stringify(es)).toBe(before);
});

test("temperature stays on its slider", () => {
  const at = (value: number) => after(es, { type: "temperature", value }).temperature;
  expect([0, 0.1, 3.3, 1e9, -1, Infinity].map(at)).toEqual([0.1, 0.1, 3.3, 10, 0.1, 10]);
});

test("pinned: what was pinned, else the one most looked at", () => {
  expect(pinnedOf(es)).toBe(3);
  expect(pinnedOf(after(es, { type: "choose", row: 1 }))).toBe(0);
  expect(pinnedOf(after(es, { type: "pin", column: 5 }, { type: "choose", row: 1 }))).toBe(5);
});

test("which vectors were moved, and whether there is anything to take back", () => {
  expect(moved(es, "es")).toEqual([]);
  const there = after(es, move("query", 6, [-2.3, -0.1]), move("value", 0, [0, 0]));
  expect(moved(there, "es")).toEqual([{ which: "query", index: 6 }, { which: "value", index: 0 }]);
  expect(isStart(there, "es")).toBe(false);
  expect(isStart(after(there, move("query", 6, [0.9, 1.9]), move("value", 0, [0.2, 0.7])), "es")).toBe(true);
  for (const action of [{ type: "choose", row: 1 }, { type: "temperature", value: 2 }, { type: "causal", on: true }] as Action[])
    expect(isStart(after(es, action), "es")).toBe(false);
  expect(isStart(after(es, { type: "pin", column: 2 }), "es")).toBe(true);
});

test("reset goes back to the start of the sentence that stands there", () => {
  expect(after(es, move("key", 3, [2, 2]), { type: "causal", on: true }, { type: "reset" })).toEqual(es);
  expect(after(es, { type: "sentence", id: "seat" }, move("key", 3, [2, 2]), { type: "reset" })).toEqual(start("seat", "es"));
  const own = after(es, { type: "own", words: ["uno", "dos"] }, move("key", 0, [0, 0]), { type: "reset" });
  expect(own).toEqual(startOwn(["uno", "dos"])); // what was typed is not lost
});

describe("another language", () => {
  const en = (state: WordsState) => reduce(state, { type: "language", language: "en" }, "es");

  test("the same words in their new places, with what was moved, chosen and pinned", () => {
    const seat = after(es, { type: "sentence", id: "seat" });
    const [sento, se] = [2, 1];
    const there = en(after(seat, move("query", sento, [1, 1]), move("key", se, [2, 0]), { type: "choose", row: sento }, { type: "pin", column: se },
      { type: "temperature", value: 5 }, { type: "causal", on: true }));
    expect(there.words).toEqual(texts("seat", "en"));
    expect(there).toMatchObject({ sentence: "seat", chosen: 1, pinned: 2, temperature: 5, causal: true });
    expect(there.query[1]).toEqual([1, 1]);
    expect(there.key[2]).toEqual([2, 0]);
    expect(moved(there, "en")).toEqual([{ which: "query", index: 1 }, { which: "key", index: 2 }]);
  });

  test("there and back is where one was", () => {
    const here = after(es, move("value", 4, [1, 1]), { type: "choose", row: 0 });
    expect(reduce(en(here), { type: "language", language: "es" }, "en")).toEqual(here);
    expect(isStart(en(es), "en")).toBe(true);
  });

  test("an own sentence stays as it was typed", () => {
    const own = startOwn(["uno", "dos"]);
    expect(en(own)).toBe(own);
  });
});

describe("another sentence", () => {
  test("a word that is in both takes its vectors along: the same word, the same numbers", () => {
    const there = after(es, move("query", 6, [1, -1]), move("key", 3, [2.5, 2.5]), { type: "sentence", id: "seat" });
    const banco = ids("seat", "es").indexOf("banco");
    expect(there.chosen).toBe(banco);
    expect(there.query[banco]).toEqual([1, -1]);
    expect(moved(there, "es")).toEqual([{ which: "query", index: banco }]);
  });

  test("who is not in it hands over to banco; temperature and mask stay", () => {
    const there = after(es, { type: "choose", row: 3 }, { type: "pin", column: 1 }, { type: "causal", on: true }, { type: "temperature", value: 2 }, { type: "sentence", id: "seat" });
    expect(there).toMatchObject({ chosen: 5, pinned: null, causal: true, temperature: 2 });
  });

  test("from an own sentence to a given one: its start", () => {
    const there = after(startOwn(["a", "b", "c"]), { type: "temperature", value: 3 }, { type: "sentence", id: "money" });
    expect(there).toEqual({ ...es, temperature: 3 });
  });
});

test("the scene of any state is one that parses, and every part of it is used", () => {
  const there = after(es, { type: "causal", on: true }, { type: "temperature", value: 0.5 }, move("query", 6, [1, 2]));
  const { value } = parseScene(JSON.stringify(sceneOf(there)));
  expect(value).toEqual(sceneOf(there));
  expect(look(value!, 6)).toEqual(lookOf(there));
  expect(lookOf(after(there, { type: "choose", row: 0 })).weights).toEqual([1, 0, 0, 0, 0, 0, 0]);
  for (const part of PARTS) expect(value![part]).toEqual(there[part]);
  expect(value!.masks).toEqual([{ kind: "causal" }]);
  expect(value!.temperature).toBe(0.5);
});
