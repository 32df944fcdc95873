import type { Fault, Result } from "../scene/fault";
import type { Language } from "../scene/percent";
import { FEWEST, MOST, readOwn } from "./own";
import { PARTS, RANGE, type Part, type Vector } from "./sentences";
import { moved, start, startOf, startOwn, TEMPERATURES, type WordsState } from "./state";

const VERSION = "1";

/** The fragment (without #) that leads back to a state: only what differs from its start, e.g.
 *  `l=es&w=5&t=0.5&c=1&q6=1,2`; "" for the start itself. Words are counted from 0.
 *  v version (1, left out) · l language · s sentence · o own words · w chosen word · p pinned word · t temperature ·
 *  c causal mask · q2, k2, v2 query, key, value of word 2. The language is there because positions depend on it. */
export const toLink = (state: WordsState, language: Language): string => {
  const from = startOf(state, language);
  const parts: string[] = [];
  if (state.sentence === "own")
    parts.push("s=own", "o=" + state.words.map((w) => encodeURIComponent(w.replace(/\p{Cs}/gu, "\ufffd"))).join("+"));
  else if (state.sentence !== "money") parts.push("s=" + state.sentence);
  if (state.chosen !== from.chosen) parts.push("w=" + state.chosen);
  if (state.pinned !== null) parts.push("p=" + state.pinned);
  if (state.temperature !== 1) parts.push("t=" + state.temperature);
  if (state.causal) parts.push("c=1");
  for (const { which, index } of moved(state, language)) parts.push(which[0] + index + "=" + state[which][index].join());
  return parts.length ? ["l=" + language, ...parts].join("&") : "";
};

/** What a fragment (with or without #) says, or what is broken in it; nothing broken is half believed. "" is the start
 *  in the reader's own language. */
export const fromLink = (fragment: string, language: Language): Result<{ state: WordsState; language: Language }> => {
  const given: Record<string, string> = {};
  const bad = (fault: Fault): { fault: Fault } => ({ fault });
  for (const part of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
    const [where, ...rest] = part.split("=");
    if (!/^([lsowptc]|v|[qkv]\d+)$/.test(where)) return bad({ code: "link.unknown", where });
    if (where in given) return bad({ code: "link.repeat", where });
    given[where] = rest.join("=");
    if (where !== "o") try {
      given[where] = decodeURIComponent(given[where]);
    } catch {
      return bad({ code: "link.encoding", where });
    }
  }
  const { v = VERSION, l = language, s = "money", o, w, p, t, c = "0", ...vectors } = given;
  if (v !== VERSION) return bad({ code: "link.version", got: v });
  if (l !== "es" && l !== "en") return bad({ code: "link.value", where: "l", got: l });
  if (s !== "money" && s !== "seat" && s !== "own") return bad({ code: "link.value", where: "s", got: s });
  if (c !== "0" && c !== "1") return bad({ code: "link.value", where: "c", got: c });
  if ((s === "own") !== (o !== undefined)) return bad({ code: "link.value", where: o === undefined ? "o" : "s", got: o === undefined ? "" : s });

  let state: WordsState;
  if (s === "own") {
    try {
      const words = o.split("+").map(decodeURIComponent);
      if (words.length < FEWEST || words.length > MOST) return bad({ code: "link.count", got: words.length });
      const read = readOwn(words.join(" "));
      if (read.fault || read.value.length !== words.length) return bad({ code: "link.value", where: "o", got: o });
      state = startOwn(read.value);
    } catch {
      return bad({ code: "link.encoding", where: "o" });
    }
  } else state = start(s, l);

  const high = state.words.length - 1;
  const outside = (i: string) => !/^\d{1,3}$/.test(i) || +i > high;
  for (const [where, i] of Object.entries({ w, p })) {
    if (i === undefined) continue;
    if (outside(i)) return bad({ code: "link.word", where, got: i, high });
    state = { ...state, [where === "w" ? "chosen" : "pinned"]: +i };
  }
  /** A finite number within bounds, or what is wrong with it. */
  const number = (where: string, text: string, low: number, high: number): number | Fault => {
    if (!/^-?\d+(\.\d+)?(e-?\d+)?$/.test(text)) return { code: "link.number", where, got: text };
    const x = +text;
    return x >= low && x <= high ? x || 0 : { code: "link.range", where, got: text, low, high };
  };
  if (t !== undefined) {
    const temperature = number("t", t, ...TEMPERATURES);
    if (typeof temperature !== "number") return bad(temperature);
    state = { ...state, temperature };
  }
  for (const [where, text] of Object.entries(vectors)) {
    const which = PARTS.find((part) => part[0] === where[0]) as Part;
    const index = where.slice(1);
    if (outside(index)) return bad({ code: "link.word", where, got: index, high });
    const numbers = text.split(",").map((x) => number(where, x, -RANGE, RANGE));
    const fault = numbers.find((x) => typeof x !== "number");
    if (numbers.length !== 2) return bad({ code: "link.number", where, got: text });
    if (fault) return bad(fault);
    state = { ...state, [which]: state[which].map((old, i) => (i === +index ? (numbers as Vector) : old)) };
  }
  return { value: { state: { ...state, causal: c === "1" }, language: l } };
};
