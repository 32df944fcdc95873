import type { Language } from "../scene/percent";
import { look, type Scene } from "../scene/scene";

/** The same scene through the library's own layers: the largest difference of its weights and outputs from ours, or the
 *  reason, in the lab's words, why it would not compute. Rejects where the lab does not answer. */
export const check = async (scene: Scene, language: Language, token = ""): Promise<number | string> => {
  const answer = await fetch("/api/scene/weights?lang=" + language, {
    method: "POST", headers: { "Content-Type": "application/json", "X-Mirada-Token": token }, body: JSON.stringify(scene),
  });
  const theirs = await answer.json();
  if (!answer.ok) return theirs.error.message;
  const far = (a: number[], b: number[]) => a.map((x, i) => Math.abs(x - b[i]));
  return Math.max(...scene.rows.flatMap((_, i) => {
    const ours = look(scene, i);
    return [...far(ours.weights, theirs.weights[i]), ...far(ours.output, theirs.output[i])];
  }));
};
