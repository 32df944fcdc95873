import type { Language } from "../scene/percent";
import { look, most, type Look, type Scene } from "../scene/scene";
import { ownVectors } from "./own";
import { ids, PARTS, RANGE, STEP, texts, vector, type Given, type Part, type Vector } from "./sentences";

export interface WordsState {
  sentence: Given | "own";
  words: string[];
  query: Vector[];
  key: Vector[];
  value: Vector[];
  /** The position that looks. */
  chosen: number;
  /** The position whose sum is shown; null: the one most looked at. */
  pinned: number | null;
  temperature: number;
  causal: boolean;
}

export type Action =
  | { type: "choose"; row: number }
  | { type: "pin"; column: number | null }
  | { type: "move"; which: Part; index: number; to: Vector }
  | { type: "temperature"; value: number }
  | { type: "causal"; on: boolean }
  | { type: "sentence"; id: Given }
  | { type: "own"; words: string[] }
  | { type: "language"; language: Language }
  | { type: "reset" }
  | { type: "load"; state: WordsState };

export const TEMPERATURES = [0.1, 10] as const;

const clamp = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);

/** On the grid and inside the plane; never -0; NaN stays. */
export const snap = (x: number): number => Math.round(clamp(x, -RANGE, RANGE) / STEP) / Math.round(1 / STEP) + 0;

/** The sentence at rest: banco chosen (in an own sentence the last word), T = 1, nobody hidden. */
export const start = (sentence: Given, language: Language): WordsState => {
  const names = ids(sentence, language);
  const [query, key, value] = PARTS.map((part) => names.map((id) => vector(id, part)));
  return {
    sentence, words: texts(sentence, language), query, key, value,
    chosen: names.indexOf("banco"), pinned: null, temperature: 1, causal: false,
  };
};

export const startOwn = (words: string[]): WordsState => ({
  sentence: "own", words, ...ownVectors(words.length), chosen: words.length - 1, pinned: null, temperature: 1, causal: false,
});

/** Where this state's sentence began. */
export const startOf = (state: WordsState, language: Language): WordsState =>
  state.sentence === "own" ? startOwn(state.words) : start(state.sentence, language);

const equal = (a: Vector, b: Vector) => a[0] === b[0] && a[1] === b[1];

/** Which vectors are no longer where they started. */
export const moved = (state: WordsState, language: Language): { which: Part; index: number }[] => {
  const from = startOf(state, language);
  return PARTS.flatMap((which) =>
    state[which].flatMap((v, index) => (equal(v, from[which][index]) ? [] : [{ which, index }])));
};

/** Nothing to take back: every vector, the word, the temperature and the mask as at the start (the pin is free). */
export const isStart = (state: WordsState, language: Language): boolean => {
  const from = startOf(state, language);
  return state.chosen === from.chosen && state.temperature === from.temperature && state.causal === from.causal
    && !moved(state, language).length;
};

/** The same words elsewhere (other language, other sentence): a word that is in both takes along its vectors, moved
 *  or not, and whether it is chosen or pinned. */
const carry = (state: WordsState, from: string[], sentence: Given, language: Language): WordsState => {
  const to = ids(sentence, language);
  const rest = start(sentence, language);
  const at = to.map((id) => from.indexOf(id));
  const place = (i: number | null) => (i === null ? -1 : to.indexOf(from[i]));
  const [query, key, value] = PARTS.map((part) => at.map((i, j) => (i < 0 ? rest[part][j] : state[part][i])));
  const chosen = place(state.chosen);
  const pinned = place(state.pinned);
  return { ...state, sentence, words: rest.words, query, key, value,
    chosen: chosen < 0 ? rest.chosen : chosen, pinned: pinned < 0 ? null : pinned };
};

/** The next state; the same object when the action changes nothing or makes no sense (NaN, no such word). */
export const reduce = (state: WordsState, action: Action, language: Language): WordsState => {
  const word = (i: number) => Number.isInteger(i) && i >= 0 && i < state.words.length;
  const names = state.sentence === "own" ? [] : ids(state.sentence, language);
  switch (action.type) {
    case "choose":
      return !word(action.row) || action.row === state.chosen ? state : { ...state, chosen: action.row };
    case "pin":
      return action.column === state.pinned || (action.column !== null && !word(action.column)) ? state
        : { ...state, pinned: action.column };
    case "move": {
      const { which, index } = action;
      const to = action.to.map(snap) as Vector;
      if (!word(index) || to.some(Number.isNaN) || equal(to, state[which][index])) return state;
      return { ...state, [which]: state[which].map((v, i) => (i === index ? to : v)) };
    }
    case "temperature": {
      const temperature = clamp(action.value, ...TEMPERATURES);
      return Number.isNaN(temperature) || temperature === state.temperature ? state : { ...state, temperature };
    }
    case "causal":
      return action.on === state.causal ? state : { ...state, causal: action.on };
    case "sentence":
      return action.id === state.sentence ? state : carry(state, names, action.id, language);
    case "own":
      return { ...startOwn(action.words), temperature: state.temperature, causal: state.causal };
    case "language":
      return state.sentence === "own" || action.language === language ? state
        : carry(state, names, state.sentence, action.language);
    case "reset":
      return startOf(state, language);
    case "load":
      return action.state;
  }
};

/** What the views draw. */
export const sceneOf = (state: WordsState): Scene => ({
  version: 1, rows: state.words, columns: state.words, query: state.query, key: state.key, value: state.value,
  scale: Math.SQRT1_2, temperature: state.temperature, masks: state.causal ? [{ kind: "causal" }] : [],
  axes: { rows: "", columns: "" },
});

/** The chosen word's look. */
export const lookOf = (state: WordsState): Look => look(sceneOf(state), state.chosen);

/** The position whose sum is shown: what was pinned, else what is most looked at. */
export const pinnedOf = (state: WordsState): number => state.pinned ?? most(lookOf(state));
