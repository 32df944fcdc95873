import { describe, expect, test } from "vitest";
import type { Language } from "../../src/scene/percent";
import { fromLink, toLink } from "../../src/words/permalink";
import { reduce, start, startOwn, type Action, type WordsState } from "../../src/words/state";
import { random } from "../scene/random";

const es = start("money", "es");
const after = (state: WordsState, ...actions: Action[]) => actions.reduce((s, a) => reduce(s, a, "es"), state);

test("readable, and only what differs from the start", () => {
  expect(toLink(es, "es")).toBe("");
  expect(toLink(after(es, { type: "choose", row: 5 }, { type: "temperature", value: 0.5 }, { type: "causal", on: true },
    { type: "move", which: "query", index: 6, to: [1, -2.5] }), "es")).toBe("l=es&w=5&t=0.5&c=1&q6=1,-2.5");
  expect(toLink(start("seat", "en"), "en")).toBe("l=en&s=seat");
  expect(toLink(after(es, { type: "pin", column: 0 }, { type: "move", which: "value", index: 0, to: [0, 0] }), "es")).toBe("l=es&p=0&v0=0,0");
  expect(toLink(startOwn(["uno", "dos+tres", "a&b=c", "ñ"]), "es")).toBe("l=es&s=own&o=uno+dos%2Btres+a%26b%3Dc+%C3%B1");
});

test("any state comes back from its own link, in either language", () => {
  const r = random(47);
  for (let round = 0; round < 300; round++) {
    const language = r.pick<Language>(["es", "en"]);
    const words = Array.from({ length: r.whole(2, 12) }, () => r.pick(["a", "ñandú", "🙂", "</script><b>", "50%", "#&=+", "سلام", "x".repeat(300), "-"]));
    let state = r.pick([start("money", language), start("seat", language), startOwn(words)]);
    const last = state.words.length - 1;
    for (let i = r.whole(0, 6); i--; ) state = reduce(state, r.pick<Action>([
      { type: "move", which: r.pick(["query", "key", "value"] as const), index: r.whole(0, last), to: [r.between(-3, 3), r.between(-3, 3)] },
      { type: "choose", row: r.whole(0, last) }, { type: "pin", column: r.whole(0, last) },
      { type: "temperature", value: 10 ** r.between(-1, 1) }, { type: "causal", on: r.next() < 0.5 },
    ]), language);
    const link = toLink(state, language);
    expect(fromLink("#" + link, link ? r.pick<Language>(["es", "en"]) : language).value, link).toEqual({ state, language });
    expect(link).toMatch(/^[\w%=&+,.!~*'()-]*$/); // survives being pasted anywhere
  }
});

test("the empty link is the start in the reader's own language", () => {
  for (const empty of ["", "#"]) expect(fromLink(empty, "en").value).toEqual({ state: start("money", "en"), language: "en" });
});

test("as other programs rewrite links: commas and words percent-encoded", () => {
  expect(fromLink("q6=1%2C2", "es").value!.state.query[6]).toEqual([1, 2]);
  expect(fromLink("s=own&o=%61+b", "es").value!.state.words).toEqual(["a", "b"]);
  expect(fromLink("v=1&l=es&w=2", "es").value!.state.chosen).toBe(2);
});

describe("what is broken is named, and nothing broken is half believed", () => {
  test.each([
    ["v=2&w=1", { code: "link.version", got: "2" }],
    ["v=", { code: "link.version", got: "" }],
    ["w=1&z=3", { code: "link.unknown", where: "z" }],
    ["constructor=1", { code: "link.unknown", where: "constructor" }],
    ["__proto__=1", { code: "link.unknown", where: "__proto__" }],
    ["hello", { code: "link.unknown", where: "hello" }],
    ["w=1&w=2", { code: "link.repeat", where: "w" }],
    ["l=fr", { code: "link.value", where: "l", got: "fr" }],
    ["s=bank", { code: "link.value", where: "s", got: "bank" }],
    ["c=yes", { code: "link.value", where: "c", got: "yes" }],
    ["s=own", { code: "link.value", where: "o", got: "" }],
    ["o=a+b", { code: "link.value", where: "s", got: "money" }],
    ["s=own&o=a", { code: "link.count", got: 1 }],
    ["s=own&o=" + Array(13).fill("a").join("+"), { code: "link.count", got: 13 }],
    ["s=own&o=a++b", { code: "link.value", where: "o", got: "a++b" }],
    ["s=own&o=a+b%20c", { code: "link.value", where: "o", got: "a+b%20c" }],
    ["s=own&o=%E0%A4%A+b", { code: "link.encoding", where: "o" }],
    ["w=%", { code: "link.encoding", where: "w" }],
    ["w=7", { code: "link.word", where: "w", got: "7", high: 6 }],
    ["w=-1", { code: "link.word", where: "w", got: "-1", high: 6 }],
    ["p=1.5", { code: "link.word", where: "p", got: "1.5", high: 6 }],
    ["w=", { code: "link.word", where: "w", got: "", high: 6 }],
    ["q7=1,2", { code: "link.word", where: "q7", got: "7", high: 6 }],
    ["t=NaN", { code: "link.number", where: "t", got: "NaN" }],
    ["t=Infinity", { code: "link.number", where: "t", got: "Infinity" }],
    ["t=", { code: "link.number", where: "t", got: "" }],
    ["t=0x1", { code: "link.number", where: "t", got: "0x1" }],
    ["t=0", { code: "link.range", where: "t", got: "0", low: 0.1, high: 10 }],
    ["t=-1", { code: "link.range", where: "t", got: "-1", low: 0.1, high: 10 }],
    ["q6=1", { code: "link.number", where: "q6", got: "1" }],
    ["q6=1,2,3", { code: "link.number", where: "q6", got: "1,2,3" }],
    ["k6=1,NaN", { code: "link.number", where: "k6", got: "NaN" }],
    ["k6=1e999,0", { code: "link.range", where: "k6", got: "1e999", low: -2.5, high: 2.5 }],
    ["v6=2.6,0", { code: "link.range", where: "v6", got: "2.6", low: -2.5, high: 2.5 }],
    ["q99999999999=1,2", { code: "link.word", where: "q99999999999", got: "99999999999", high: 6 }],
  ])("%s", (link, fault) => expect(fromLink(link, "es")).toEqual({ fault }));
});

test("no fragment whatever throws", () => {
  const r = random(53);
  const bits = ["q6", "=", ",", "&", "1", "-", "%", "%C3", "o", "s=own", "w", "#", "e", ".", "own", "\ud800", "v", "1e5", "l=en"];
  for (let round = 0; round < 3000; round++) {
    const { value, fault } = fromLink(Array.from({ length: r.whole(0, 9) }, () => r.pick(bits)).join(""), "es");
    expect((value === undefined) !== (fault === undefined)).toBe(true);
    if (value) expect(value.state.query.flat().every(Number.isFinite)).toBe(true);
  }
});
