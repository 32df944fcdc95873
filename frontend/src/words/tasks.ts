import type { Language } from "../scene/percent";
import { look, most } from "../scene/scene";
import { ids, type Given } from "./sentences";
import { isStart, moved, sceneOf, start, type WordsState } from "./state";

/** One thing that can be predicted. word: its position in the sentence that the step is about, when it is a word (id is
 *  then its name in ids()); otherwise the catalogue has the text under `option.<id>`. */
export interface Option { id: string; word?: number }

/** Predict, then act until the page recognises it. Catalogue: `step.<id>.ask` (the question), `step.<id>.act` (what to do). */
export interface Step {
  id: string;
  options: Option[];
  /** Ids of the right options: mostly one. */
  right: string[];
  /** The sentence whose words `options` names. */
  sentence: Given;
}

/** Catalogue: `task.<id>` (the title). */
export interface Task { id: number; steps: Step[] }

/** What the tasks remember; plain data. */
export interface Memory {
  /** step id -> option id */
  said: Record<string, string>;
  /** step id -> its goal was reached after predicting */
  done: Record<string, boolean>;
  /** marks of goals that need more than one state */
  seen: Partial<Record<Mark, boolean>>;
}

export const blank: Memory = { said: {}, done: {}, seen: {} };

/** there: banco looked chiefly at Ana; low, high: the ends of the slider; zero: a query of length 0. */
type Mark = "there" | "low" | "high" | "zero";

/** A state as the goals ask about it. Words by name; a name that the sentence lacks is at -1. */
interface Sight {
  state: WordsState;
  language: Language;
  at(id: string): number;
  /** Whom a word looks at most: a name. */
  top(id: string): string;
  weight(id: string, other: string): number;
  chosen: string;
}

const sight = (state: WordsState, language: Language): Sight => {
  const names = state.sentence === "own" ? [] : ids(state.sentence, language);
  const at = (id: string) => names.indexOf(id);
  const row = (id: string) => look(sceneOf(state), at(id));
  return {
    state, language, at, chosen: names[state.chosen],
    top: (id) => names[most(row(id))],
    weight: (id, other) => row(id).weights[at(other)],
  };
};

const isMoved = ({ state, language, at }: Sight, which: "query" | "key", id: string) =>
  moved(state, language).some((m) => m.which === which && m.index === at(id));

/** Whether it is done, said of a state; marks: of all the states since the prediction. */
type Goal = (s: Sight, marks: Memory["seen"]) => boolean;

/** The word was chosen, with the mask on where the task is about it, and it looks as the lesson says. */
const looks = (id: string, other: string, causal = false): Goal => ({ state, chosen, top }) =>
  state.sentence === "money" && (state.causal || !causal) && chosen === id && top(id) === other;

const reached = ({ state, chosen, top }: Sight) => state.sentence === "money" && chosen === "banco" && top("banco") === "ana";

/** How far along its own direction plata's key was drawn: 1 at the start; 0 when it went elsewhere. */
const drawn = ({ state, language, at }: Sight): number => {
  const [a, b] = start("money", language).key[at("plata")];
  const [x, y] = state.key[at("plata")];
  return Math.abs(Math.atan2(a * y - b * x, a * x + b * y)) < 0.35 ? Math.hypot(x, y) / Math.hypot(a, b) : 0;
};

const pulled: Goal = (s) => s.state.sentence === "money" && !s.state.causal && drawn(s) > 1
  && ids("money", s.language).filter((id) => s.top(id) === "plata").length >= 5
  && s.weight("ana", "plata") < sight({ ...s.state, key: start("money", s.language).key }, s.language).weight("ana", "plata");

const seat = ({ state, chosen }: Sight) => state.sentence === "seat" && chosen === "banco";

/** Names separated by spaces. right: of right options. typical: wrong predictions that have an answer of their own.
 *  options: besides the words of the sentence, or instead of them where these would make no sense (`!`). */
type Plan = [id: string, right: string, typical: string, options: string, goal: Goal, sentence?: Given];

const PLANS: Plan[][] = [
  [
    ["banco", "plata", "banco el", "", looks("banco", "plata")],
    ["la", "plata", "guardo banco", "", looks("la", "plata")],
    ["guardo", "ana", "plata", "", looks("guardo", "ana")],
  ],
  [["drag", "towards", "away longer query", "! towards away longer query",
    ({ state, language }, marks) => !!marks.there && state.sentence === "money" && isStart(state, language)]],
  [["ends", "never", "high low", "! never high low", (_, marks) => !!(marks.low && marks.high)]],
  [
    ["el", "plata", "banco en el", "", looks("el", "plata", true)],
    ["ana", "herself", "everybody nobody", "! everybody herself nobody", looks("ana", "ana", true)],
  ],
  [
    ["less", "ana", "none", "none", pulled],
    ["why", "grows", "near all", "! grows near all", () => true],
  ],
  [
    ["where", "seat", "money between", "! seat money between", (s) => {
      if (!seat(s)) return false;
      const [money, place] = look(sceneOf(s.state), s.state.chosen).output;
      return place > money + 0.5; // clearly on the side of seat
    }, "seat"],
    ["which", "plaza sento", "ana banco", "", seat, "seat"],
  ],
];

const split = (names: string): string[] => names.split(" ").filter(Boolean);

/** The six tasks, their words at the positions they have in this language. */
export const tasks = (language: Language): Task[] => PLANS.map((plans, i) => ({
  id: i + 1,
  steps: plans.map(([id, right, , options, , sentence = "money"]) => {
    const [first, ...others] = split(options);
    const words = ids(sentence, language).map((id, word) => ({ id, word }));
    return { id, sentence, right: split(right),
      options: first === "!" ? others.map((id) => ({ id })) : [...words, ...split(options).map((id) => ({ id }))] };
  }),
}));

const plans = PLANS.flat();

/** After a prediction (the first one counts: the same memory comes back when the step has one). */
export const predict = (memory: Memory, step: string, option: string): Memory =>
  memory.said[step] ? memory : { ...memory, said: { ...memory.said, [step]: option } };

/** After every change of state, and after predict: marks what was reached, for steps that have a prediction. The same
 *  object when there is nothing new. */
export const observe = (memory: Memory, state: WordsState, language: Language): Memory => {
  const s = sight(state, language);
  const { said } = memory;
  const now: [Mark, unknown][] = [
    ["there", said.drag && reached(s) && isMoved(s, "query", "banco")],
    ["low", said.ends && state.temperature <= 0.1],
    ["high", said.ends && state.temperature >= 10],
    ["zero", said.ends && !state.query[state.chosen].some(Boolean)],
  ];
  const marks = now.filter(([mark, holds]) => holds && !memory.seen[mark]).map(([mark]) => mark);
  const seen = marks.length ? { ...memory.seen, ...Object.fromEntries(marks.map((m) => [m, true])) } : memory.seen;
  const reachedNow = plans.filter(([id, , , , goal]) => said[id] && !memory.done[id] && goal(s, seen));
  return !marks.length && !reachedNow.length ? memory
    : { said, seen, done: { ...memory.done, ...Object.fromEntries(reachedNow.map(([id]) => [id, true])) } };
};

export const isDone = (memory: Memory, task: Task): boolean => task.steps.every((step) => memory.done[step.id]);

/** Catalogue keys of the answer to a step that is done: first `answer.right`, or `answer.<step>.<option>` when the
 *  prediction was wrong and typical, or `answer.wrong` when wrong otherwise; then `answer.<step>`. */
export const answer = (memory: Memory, step: Step): string[] => {
  const said = memory.said[step.id];
  const typical = plans.some(([id, , wrong]) => id === step.id && split(wrong).includes(said));
  const first = step.right.includes(said) ? "right" : typical ? `${step.id}.${said}` : "wrong";
  return ["answer." + first, "answer." + step.id];
};

/** Catalogue keys of what helps now, of a task whose open step has a prediction:
 *  hint.other     the state is far from where this task plays (another sentence)
 *  hint.moved     the word is chosen, but vectors, mask or temperature make it look elsewhere than the task says
 *  hint.key       (2) Ana is reached, but by moving keys: it is banco's query that should move
 *  hint.back      (2) Ana is reached: now back to the start
 *  hint.low/high  (3) the other end of the slider is still to be seen
 *  hint.curious   (3, done) is there a query with which all get the same?
 *  hint.zero      (3, done) found: a query of length 0
 *  hint.direction (5) plata's key went aside or inwards
 *  hint.farther   (5) in the right direction, not far enough */
export const hints = (memory: Memory, task: Task, state: WordsState, language: Language): string[] => {
  const s = sight(state, language);
  const step = task.steps.find(({ id }) => !memory.done[id]);
  const { seen } = memory;
  if (!step) return task.id !== 3 ? [] : [seen.zero ? "hint.zero" : "hint.curious"];
  if (!memory.said[step.id]) return [];
  if (step.id === "ends") return seen.low ? ["hint.high"] : seen.high ? ["hint.low"] : [];
  if (step.id === "where") return seat(s) ? ["hint.moved"] : []; // another sentence is what it asks for
  if (state.sentence !== step.sentence) return ["hint.other"];
  if (step.id === "drag") return seen.there ? ["hint.back"] : reached(s) ? ["hint.key"] : [];
  if (step.id === "less") {
    if (!isMoved(s, "key", "plata")) return [];
    return [drawn(s) > 1 ? (state.causal ? "hint.moved" : "hint.farther") : "hint.direction"];
  }
  return s.chosen === step.id && (step.id !== "el" || state.causal) ? ["hint.moved"] : [];
};
