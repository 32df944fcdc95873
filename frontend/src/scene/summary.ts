import { percents } from "./percent";
import { look, type Scene } from "./scene";

/** A word as a sentence names it. near: a neighbour to tell it from another word with the same text, as in
 *  “the (before money)”; absent when the text is enough. */
export interface Name { index: number; text: string; near?: { side: "before" | "after"; text: string } }

export interface Looked extends Name { self: boolean; percent: number | null }

/** What one row does, as a key of the catalogue and what fills it. The templates the keys stand for, with the wording
 *  that suits any word («a sí misma» is the *palabra*):
 *  summary.nobody  «{chosen}» no puede mirar a nadie.            “{chosen}” may look at nobody.
 *  summary.only    «{chosen}» solo mira {0} ({p0}).              “{chosen}” looks only {0} ({p0}).
 *  summary.nearly  «{chosen}» mira casi solo {0} ({p0}).         “{chosen}” looks almost only {0} ({p0}).
 *  summary.two     «{chosen}» mira sobre todo {0} ({p0}), luego {1} ({p1}).
 *                                                                “{chosen}” looks chiefly {0} ({p0}), then {1} ({p1}).
 *  summary.tie     «{chosen}» mira por igual {0} y {1} ({p0} cada una).
 *                                                                “{chosen}” looks equally {0} and {1} ({p0} each).
 *  summary.even    «{chosen}» mira a todas casi por igual: la que más, {0} ({p0}).
 *                                                                “{chosen}” looks at all nearly alike: most {0} ({p0}).
 *  summary.same    «{chosen}» mira a todas por igual.            “{chosen}” looks at all alike.
 *  and for each {n}: summary.at «a «{word}»» / “at “{word}””, or summary.self «a sí misma» / “at itself”;
 *  with `near` the word is followed by summary.before «(antes de {near})» / “(before {near})” or summary.after. */
export interface Summary {
  key: "summary.nobody" | "summary.only" | "summary.nearly" | "summary.two" | "summary.tie" | "summary.even" | "summary.same";
  chosen: Name;
  /** The words the sentence names, most looked at first. */
  looked: Looked[];
}

/** How to call the word at a position. */
export const nameOf = (words: string[], index: number): Name => ({ index, text: words[index] });

export const summary = (scene: Scene, row: number): Summary => {
  const { weights, allowed } = look(scene, row);
  const parts = percents(weights, allowed);
  const order = weights.map((_, j) => j).filter((j) => allowed[j]).sort((a, b) => weights[b] - weights[a] || a - b);
  return { key: "summary.two", chosen: nameOf(scene.rows, row),
    looked: order.slice(0, 2).map((j) => ({ ...nameOf(scene.columns, j), self: j === row, percent: parts[j] })) };
};

/** A stretch of text and what it stands for: the page colours by role. */
export interface Piece { text: string; role?: string }

/** Fills {names} of a template with pieces; what is not filled is left as it stands. */
export const fill = (template: string, by: Record<string, Piece | Piece[]>): Piece[] =>
  template.split(/(\{\w+\})/).filter(Boolean).flatMap((text) => by[text.slice(1, -1)] ?? { text });
