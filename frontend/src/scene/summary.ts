import { percents } from "./percent";
import { look, type Scene } from "./scene";

/** A word as a sentence names it. near: a neighbour to tell it from another word with the same text, as in
 *  “the (before money)”; absent when the text is enough. */
export interface Name { index: number; text: string; near?: { side: "before" | "after"; text: string } }

export interface Looked extends Name { self: boolean; percent: number }

/** What one row does, as a key of the catalogue and what fills it. What the keys stand for, in words that suit any word
 *  («a sí misma» is the *palabra*, so a word of either gender and an own sentence read well):
 *  nobody  «{chosen}» no puede mirar a nadie.                    “{chosen}” may look at nobody.
 *  only    «{chosen}» solo puede mirar {0} ({p0}).               “{chosen}” may only look {0} ({p0}).
 *  nearly  «{chosen}» mira casi solo {0} ({p0}).                 “{chosen}” looks almost only {0} ({p0}).
 *  two     «{chosen}» mira sobre todo {0} ({p0}), luego {1} ({p1}).
 *                                                                “{chosen}” looks chiefly {0} ({p0}), then {1} ({p1}).
 *  tie     «{chosen}» mira por igual {0} y {1} ({together} entre las dos).
 *                                                                “{chosen}” looks equally {0} and {1} ({together} together).
 *  ties    «{chosen}» mira por igual a {count} palabras ({together} entre ellas).
 *                                                                “{chosen}” looks equally at {count} words ({together} together).
 *  even    «{chosen}» mira a todas casi por igual; un poco más, {0} ({p0}).
 *                                                                “{chosen}” looks at all nearly alike; a little more, {0} ({p0}).
 *  same    «{chosen}» mira a todas por igual.                    “{chosen}” looks at all alike.
 *  {0} and {1} are «a «{word}»» / “at “{word}””, or for the word itself «a sí misma» / “at itself”; with `near` the
 *  word is followed by «(antes de {near})» / “(before {near})” or «(después de {near})» / “(after {near})”. */
export interface Summary {
  key: "nobody" | "only" | "nearly" | "two" | "tie" | "ties" | "even" | "same";
  chosen: Name;
  /** The words the sentence names, most looked at first; of a tie all that are in it. */
  looked: Looked[];
  /** Their whole per cents added up, as the picture shows them. */
  together: number;
}

/** How to call the word at a position: with a neighbour when the sentence has its text twice. */
export const nameOf = (words: string[], index: number): Name => {
  const text = words[index];
  const twins = words.map((_, i) => i).filter((i) => i !== index && words[i] === text);
  const side = (step: 1 | -1): Name["near"] =>
    ({ side: step > 0 ? "before" : "after", text: words[index + step] });
  const tells = (step: 1 | -1) => words[index + step] !== undefined && twins.every((i) => words[i + step] !== words[index + step]);
  return {
    index, text,
    ...(twins.length ? { near: tells(1) ? side(1) : tells(-1) ? side(-1) : side(index + 1 < words.length ? 1 : -1) } : {}),
  };
};

// Weights that come out of the same numbers in another order differ by rounding alone.
const SAME = 1e-9;

export const summary = (scene: Scene, row: number): Summary => {
  const { weights, allowed } = look(scene, row);
  const parts = percents(weights, allowed);
  const order = weights.map((_, j) => j).filter((j) => allowed[j]).sort((a, b) => weights[b] - weights[a] || a - b);
  const [most, least] = [weights[order[0]], weights[order[order.length - 1]]];
  const tied = order.filter((j) => most - weights[j] <= SAME).length;
  const [key, count]: [Summary["key"], number] =
    !order.length ? ["nobody", 0]
    : order.length < 2 ? ["only", 1]
    : tied === order.length ? ["same", 0]
    : tied > 2 ? ["ties", tied]
    : tied > 1 ? ["tie", 2]
    : most >= 0.95 ? ["nearly", 1]
    : most < 2 * least && most - least < 0.1 ? ["even", 1]
    : ["two", 2];
  const looked = order.slice(0, count).map((j) => ({ ...nameOf(scene.columns, j), self: j === row, percent: parts[j] ?? 0 }));
  return { key, chosen: nameOf(scene.rows, row), looked, together: looked.reduce((a, l) => a + l.percent, 0) };
};

/** A stretch of text and what it stands for: the page colours by role. */
export interface Piece { text: string; role?: string }

/** Fills the {names} of a template with pieces; a name that is not given stays as it stands. */
export const fill = (template: string, by: Record<string, Piece | Piece[]>): Piece[] =>
  template.split(/(\{\w+\})/).filter(Boolean).flatMap((text) => {
    const name = text.slice(1, -1);
    return text[0] === "{" && Object.hasOwn(by, name) ? by[name] : { text };
  });
