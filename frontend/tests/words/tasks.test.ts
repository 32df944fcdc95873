import { describe, expect, test } from "vitest";
import { catalogue } from "../../src/catalogue";
import type { Language } from "../../src/scene/percent";
import { ids, texts, type Vector } from "../../src/words/sentences";
import { reduce, start, type Action, type WordsState } from "../../src/words/state";
import { answer, blank, hints, isDone, observe, predict, tasks, type Memory } from "../../src/words/tasks";

/** A reader: predicts and acts, and the page watches. */
class Reader {
  memory: Memory = blank;
  state: WordsState;
  constructor(readonly language: Language) {
    this.state = start("money", language);
  }
  at(id: string) {
    return ids(this.state.sentence as "money" | "seat", this.language).indexOf(id);
  }
  say(step: string, option: string) {
    this.memory = observe(predict(this.memory, step, option), this.state, this.language);
    return this;
  }
  act(action: Action) {
    this.state = reduce(this.state, action, this.language);
    this.memory = observe(this.memory, this.state, this.language);
    return this;
  }
  choose(id: string) {
    return this.act({ type: "choose", row: this.at(id) });
  }
  move(which: "query" | "key", id: string, to: Vector) {
    return this.act({ type: "move", which, index: this.at(id), to });
  }
  temperature(value: number) {
    return this.act({ type: "temperature", value });
  }
  done(step: string) {
    return !!this.memory.done[step];
  }
  hints(task: number) {
    return hints(this.memory, tasks(this.language)[task - 1], this.state, this.language);
  }
  answer(step: string) {
    return answer(this.memory, tasks(this.language).flatMap((t) => t.steps).find((s) => s.id === step)!);
  }
}

test("six tasks; every right answer is an option, and options that are words stand where the word stands", () => {
  for (const language of ["es", "en"] as const) {
    expect(tasks(language).map((t) => t.id)).toEqual([1, 2, 3, 4, 5, 6]);
    const steps = tasks(language).flatMap((t) => t.steps);
    expect(new Set(steps.map((s) => s.id)).size).toBe(steps.length);
    for (const { options, right, sentence } of steps) {
      for (const id of right) expect(options.map((o) => o.id)).toContain(id);
      for (const { id, word } of options) if (word !== undefined) expect(ids(sentence, language)[word]).toBe(id);
    }
  }
  const [plaza, sat] = ["plaza", "sento"].map((id) => tasks("en")[5].steps[1].options.find((o) => o.id === id)!);
  expect([plaza, sat].map(({ word }) => texts("seat", "en")[word!])).toEqual(["river", "sat"]);
});

describe.each(["es", "en"] as const)("acted out in %s", (language) => {
  const reader = () => new Reader(language);

  test("1: banco looks at plata, la at plata, guardó at Ana", () => {
    const r = reader();
    expect(r.act({ type: "causal", on: true }).act({ type: "causal", on: false }).done("banco")).toBe(false); // first predict
    expect(r.say("banco", "plata").done("banco")).toBe(true); // banco is chosen already
    r.say("la", "guardo");
    expect(r.done("la")).toBe(false);
    expect(r.choose("la").done("la")).toBe(true);
    r.say("guardo", "plata");
    expect(isDone(r.memory, tasks(language)[0])).toBe(false);
    r.choose("guardo");
    expect(isDone(r.memory, tasks(language)[0])).toBe(true);
    expect(r.answer("banco")).toEqual(["answer.right", "answer.banco"]);
    expect(r.answer("la")).toEqual(["answer.la.guardo", "answer.la"]); // the nearest word: a typical guess
    expect(r.answer("guardo")).toEqual(["answer.guardo.plata", "answer.guardo"]);
    expect(reader().say("la", "en").choose("la").answer("la")).toEqual(["answer.wrong", "answer.la"]);
  });

  test("1: not while a mask, a moved vector or another sentence makes it look elsewhere", () => {
    expect(reader().act({ type: "causal", on: true }).say("la", "plata").choose("la").hints(1)).toEqual([]); // banco has no prediction yet
    const masked = reader().say("banco", "plata").act({ type: "causal", on: true }).say("la", "plata").choose("la");
    expect(masked.done("la")).toBe(false);
    expect(masked.hints(1)).toEqual(["hint.moved"]);
    expect(masked.act({ type: "reset" }).choose("la").done("la")).toBe(true);
    const away = reader().say("banco", "plata").say("la", "plata").move("key", "plata", [-0.9, -0.9]).choose("la");
    expect(away.done("la")).toBe(false);
    expect(away.act({ type: "sentence", id: "seat" }).hints(1)).toEqual(["hint.other"]);
  });

  test("2: banco's query towards Ana's key, and back to the start", () => {
    const r = reader().say("drag", "towards").move("query", "banco", [-1.8, 0.5]);
    expect(r.done("drag")).toBe(false);
    expect(r.hints(2)).toEqual(["hint.back"]);
    expect(r.move("query", "banco", [-2, 1]).done("drag")).toBe(false);
    expect(r.act({ type: "reset" }).done("drag")).toBe(true);
    expect(r.answer("drag")).toEqual(["answer.right", "answer.drag"]);
    expect(r.hints(2)).toEqual([]);
  });

  test("2: also back by hand; not before predicting; not by moving Ana's key", () => {
    const byHand = reader().say("drag", "longer").move("query", "banco", [-1.8, 0.5]).move("query", "banco", [0.9, 1.9]);
    expect(byHand.done("drag")).toBe(true);
    expect(byHand.answer("drag")[0]).toBe("answer.drag.longer");
    const early = reader().move("query", "banco", [-1.8, 0.5]).act({ type: "reset" }).say("drag", "towards");
    expect(early.done("drag")).toBe(false);
    const key = reader().say("drag", "towards").move("key", "ana", [0.9, 2.4]);
    expect(key.hints(2)).toEqual(["hint.key"]);
    expect(key.act({ type: "reset" }).done("drag")).toBe(false);
  });

  test("3: both ends of the slider, in any order; then the curious find a query of length 0", () => {
    const r = reader().temperature(10).say("ends", "high").temperature(1).temperature(0.1);
    expect(r.done("ends")).toBe(true); // it was predicted at T = 10
    const s = reader().say("ends", "never").temperature(0.1);
    expect([s.done("ends"), s.hints(3)]).toEqual([false, ["hint.high"]]);
    expect(s.temperature(9.9).done("ends")).toBe(false);
    expect(s.temperature(10).done("ends")).toBe(true);
    expect(s.hints(3)).toEqual(["hint.curious"]);
    expect(s.move("query", "banco", [0, 0]).hints(3)).toEqual(["hint.zero"]);
    expect(r.answer("ends")).toEqual(["answer.ends.high", "answer.ends"]);
    expect(reader().say("ends", "low").temperature(10).hints(3)).toEqual(["hint.low"]);
    const own = reader().say("ends", "never").act({ type: "own", words: ["a", "b"] }).temperature(0.1).temperature(10);
    expect(own.done("ends")).toBe(true);
  });

  test("4: el with the causal mask, then Ana", () => {
    const r = reader().say("el", "banco").choose("el");
    expect(r.done("el")).toBe(false);
    expect(r.act({ type: "causal", on: true }).done("el")).toBe(true);
    expect(r.answer("el")).toEqual(["answer.el.banco", "answer.el"]);
    expect(r.say("ana", "nobody").done("ana")).toBe(false);
    expect(r.choose("ana").done("ana")).toBe(true);
    expect(r.answer("ana")).toEqual(["answer.ana.nobody", "answer.ana"]);
    const moved = reader().say("el", "plata").move("key", "banco", [-2, 0]).choose("el");
    expect(moved.done("el")).toBe(false); // it looks at plata, but not because of the mask
    expect(reader().say("ana", "herself").choose("ana").done("ana")).toBe(false); // without the mask she looks at others
  });

  test("5: plata's key away from the centre, in its own direction", () => {
    const r = reader().say("less", "none").move("key", "plata", [1.3, 1.3]);
    expect([r.done("less"), r.hints(5)]).toEqual([false, ["hint.farther"]]);
    expect(r.move("key", "plata", [-2, -2]).hints(5)).toEqual(["hint.direction"]);
    expect(r.move("key", "plata", [0.2, 0.2]).hints(5)).toEqual(["hint.direction"]);
    expect(r.move("key", "plata", [-1, 2.4]).done("less")).toBe(false);
    expect(r.move("key", "plata", [2.5, 2.5]).done("less")).toBe(true);
    expect(r.answer("less")).toEqual(["answer.less.none", "answer.less"]);
    expect(r.say("why", "grows").done("why")).toBe(true);
    // The same looks by moving everybody else's key.
    const others = reader().say("less", "ana").move("key", "ana", [0, 0]).move("key", "banco", [0, 0])
      .move("key", "guardo", [0.9, -2.5]).move("key", "en", [0.3, -2.5]);
    expect(others.done("less")).toBe(false);
    expect(reader().say("less", "ana").move("key", "plata", [2.2, 2.4]).done("less")).toBe(true); // by hand, not quite straight
  });

  test("6: the other sentence: banco takes a seat, by plaza and sentó", () => {
    const r = reader().say("where", "money");
    expect(r.hints(6)).toEqual([]);
    expect(r.act({ type: "sentence", id: "seat" }).done("where")).toBe(true);
    expect(r.answer("where")).toEqual(["answer.where.money", "answer.where"]);
    for (const right of ["plaza", "sento"]) {
      const s = reader().say("where", "seat").act({ type: "sentence", id: "seat" }).say("which", right);
      expect(s.done("which")).toBe(true);
      expect(s.answer("which")[0]).toBe("answer.right");
    }
    const spoilt = reader().say("where", "seat").move("query", "banco", [2.5, -2.5]).act({ type: "sentence", id: "seat" });
    expect([spoilt.done("where"), spoilt.hints(6)]).toEqual([false, ["hint.moved"]]);
    expect(spoilt.act({ type: "reset" }).done("where")).toBe(true);
  });
});

test("the first prediction counts, and memories are plain and never changed", () => {
  const once = predict(blank, "la", "plata");
  expect(predict(once, "la", "ana")).toBe(once);
  expect(blank).toEqual({ said: {}, done: {}, seen: {} });
  const es = start("money", "es");
  expect(observe(once, es, "es")).toBe(once); // nothing new: the same object
  const done = observe(predict(once, "banco", "ana"), es, "es");
  expect(JSON.parse(JSON.stringify(done))).toEqual(done);
  expect(observe(done, es, "es")).toBe(done);
});

test("a task that is done stays done, in the other language too", () => {
  const r = new Reader("es").say("banco", "plata").say("drag", "towards").move("query", "banco", [-1.8, 0.5]);
  const en = reduce(r.state, { type: "language", language: "en" }, "es");
  const back = observe(observe(r.memory, en, "en"), start("money", "en"), "en");
  expect([back.done.banco, back.done.drag]).toEqual([true, true]);
});

test("all that the tasks can say is in both catalogues", () => {
  const wanted = tasks("es").flatMap((task) => [
    "task." + task.id,
    ...task.steps.flatMap((step) => [
      `step.${step.id}.ask`, `step.${step.id}.act`,
      ...step.options.flatMap(({ id, word }) => [
        ...answer(predict(blank, step.id, id), step), ...(word === undefined ? ["option." + id] : []),
      ]),
    ]),
  ]);
  for (const language of ["es", "en"] as const) for (const key of wanted) expect(catalogue(key, language), `${key} ${language}`).toBeTypeOf("string");
});
