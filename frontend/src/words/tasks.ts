import type { Language } from "../scene/percent";
import type { WordsState } from "./state";

/** One thing that can be predicted. word: its position in the sentence that the step is about, when it is a word;
 *  otherwise the catalogue has the text under `option.<id>`. */
export interface Option { id: string; word?: number }

/** Predict, then act until the page recognises it. Catalogue: `step.<id>.ask` (the question), `step.<id>.act` (what to do). */
export interface Step {
  id: string;
  options: Option[];
  /** Ids of the right options: mostly one. */
  right: string[];
  /** The sentence whose words `options` names. */
  sentence: "money" | "seat";
}

/** Catalogue: `task.<id>` (the title). */
export interface Task { id: number; steps: Step[] }

/** What the tasks remember; plain data. */
export interface Memory {
  /** step id -> option id */
  said: Record<string, string>;
  /** step id -> its goal was reached after predicting */
  done: Record<string, boolean>;
  /** marks of goals that need more than one state ("3.low", "3.high", "2.there", "3.curious") */
  seen: Record<string, boolean>;
}

export const blank: Memory = { said: {}, done: {}, seen: {} };

/** The six tasks, their words at the positions they have in this language. */
export const tasks = (_language: Language): Task[] => [];

/** After a prediction (the first one counts: the same memory comes back when the step has one). */
export const predict = (memory: Memory, step: string, option: string): Memory =>
  memory.said[step] ? memory : { ...memory, said: { ...memory.said, [step]: option } };

/** After every change of state, and after predict: marks what was reached. The same object when there is nothing new. */
export const observe = (memory: Memory, _state: WordsState, _language: Language): Memory => memory;

export const isDone = (memory: Memory, task: Task): boolean => task.steps.every((step) => memory.done[step.id]);

/** Catalogue keys of the answer to a step that is done: `answer.<step>` always; before it `answer.<step>.<option>` when
 *  the prediction was wrong and typical, `answer.wrong` when wrong otherwise, `answer.right` when right. */
export const answer = (_memory: Memory, _step: Step): string[] => [];

/** Keys of hints to show now, e.g. "hint.3.curious", "hint.2.key" (it was Ana's key that was moved, not banco's query). */
export const hints = (_memory: Memory, _task: Task, _state: WordsState, _language: Language): string[] => [];
