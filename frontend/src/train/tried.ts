import { most, type Look, type Mask, type Scene } from "../scene/scene";
import type { Answer } from "./api";

/** What is asked of a run, and how its answer is looked at. */
export interface Tried {
  text: string;
  /** The run that answered. */
  of: string | null;
  answer: Answer | null;
  /** Why it did not answer, in the lab's words. */
  fault: string;
  /** Which scene; which of its rows looks. */
  scene: number;
  row: number;
  temperature: number;
  /** Whether nobody may look ahead; null: as in the model. */
  causal: boolean | null;
}

export const untried: Tried = { text: "", of: null, answer: null, fault: "", scene: 0, row: 1, temperature: 1, causal: null };

export const isCausal = (masks: Mask[]): boolean => masks.some(({ kind }) => kind === "causal");

/** The scene that is drawn: the model's own, at the temperature and under the mask that were chosen. */
export const sceneOf = ({ answer, scene: at, temperature, causal }: Tried): Scene | null => {
  const scene = answer?.scenes[at]?.scene;
  if (!scene) return null;
  const masks = causal === null || causal === isCausal(scene.masks ?? []) ? scene.masks ?? []
    : causal ? [...(scene.masks ?? []), { kind: "causal" as const }]
    : scene.masks.filter(({ kind }) => kind !== "causal");
  return { ...scene, axes: scene.axes ?? { rows: "", columns: "" }, masks, temperature: (scene.temperature ?? 1) * temperature, scale: scene.scale ?? 1 / Math.sqrt(scene.query[0].length) };
};

/** Each row of the scene looks at the columns of the same row: then arcs can be drawn over one row of tokens. */
export const isSelf = ({ rows, columns }: Scene): boolean => rows.length === columns.length && rows.every((r, i) => r === columns[i]);

/** The two columns most looked at. */
export const firstTwo = (look: Look): [number, number] => {
  const first = most(look);
  const rest = { weights: look.weights, allowed: look.allowed.map((a, j) => a && j !== first) };
  return [first, most(rest)];
};
