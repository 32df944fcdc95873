import type { Language } from "../scene/percent";
import type { Scene } from "../scene/scene";

/** What the lab says of training: see src/mirada/lab/train_routes.py. */
export type RunState = "waiting" | "running" | "paused" | "finished" | "cancelled" | "failed";

/** null where it is no number. */
export interface Score { loss: number | null; tokens: number | null; sequences: number | null }

export interface Run {
  /** The name of its folder. */
  id: string;
  task: string;
  /** null: that of a task which is not one of ours. */
  family: string | null;
  options: Options;
  state: RunState;
  /** Which one it is in the line of those that wait, from 1. */
  place: number | null;
  step: number;
  steps: number;
  parameters: number | null;
  score: Score | null;
  heads: number;
  blocks: number;
  /** Why it failed, in a sentence. */
  error: string | null;
  /** What went less well, in a sentence. */
  warning: string | null;
  /** This lab can pause and cancel it; others lie in its folder, from the command line. */
  ours: boolean;
}

/** What may be chosen; the rest is the task's own. */
export interface Options { positions: boolean; causal: boolean; epochs: number | null; d_model: number; heads: number; blocks: number; seed: number }

/** A line of metrics.jsonl. */
export interface Line extends Partial<Score> { step: number; kind: "training" | "validation" }

/** Who looks at whom at one step: [blocks][heads][rows][keys]; null where the mask hides it. */
export interface Maps { step: number; kind: string; maps: (number | null)[][][][] }

/** A run with all that it came to. event: the number of the newest event in that. */
export interface Whole extends Run { metrics: Line[]; maps: Maps[]; event: number }

export interface Task { name: string; family: string; question: string; answer: string; steps: number; options: Options }

export interface Answer {
  question: string;
  answer: string;
  /** The right answer, where there is one. */
  right: string | null;
  tokens: { rows: string[]; columns: string[] };
  scenes: { block: number; head: number; scene: Scene }[];
}

/** What the lab would not do, and its sentence for it. status 0: it does not answer at all. */
export class Refused extends Error {
  constructor(public status: number, message = "") {
    super(message);
  }
}

/** The lab as the page calls it. */
export interface Lab { token?: string; language: Language }

export const ask = (lab: Lab, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`/api/${path}?lang=${lab.language}`, { ...init, headers: { ...init.headers, "X-Mirada-Token": lab.token ?? "" } });

/** What the lab answers. Rejects with Refused. body: given where something is asked to be done. */
export const call = async <T>(lab: Lab, path: string, body?: object): Promise<T> => {
  let answer: Response | undefined;
  let said: unknown;
  try {
    answer = await ask(lab, path, body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    said = await answer.json();
  } catch {
    throw new Refused(0);
  }
  if (answer.ok) return said as T;
  throw new Refused(answer.status, (said as { error?: { message?: string } }).error?.message);
};

/** The path of a run; its id may be any name that a folder can have. */
export const at = (id: string, rest = ""): string => "runs/" + encodeURIComponent(id) + rest;
