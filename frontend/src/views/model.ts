import type { Language } from "../scene/percent";
import { percents } from "../scene/percent";
import { look, type Look, type Scene } from "../scene/scene";
import type { Part } from "../words/sentences";
import { pinnedOf, sceneOf, type Action, type WordsState } from "../words/state";
import { sayIn, type Say } from "./say";

export type Host = "file" | "lab" | "widget";

/** What was measured: everything is drawn in pixels of the place it stands in. */
export interface Box {
  /** Of the picture. */
  width: number;
  /** The sentence reads down, one word a row. */
  down: boolean;
  /** Font size of the sentence; the middles of its words along it. */
  size: number;
  centres: number[];
  /** Widths of the two planes. */
  keys: number;
  values: number;
}

/** What a person holds: which vector of which word. */
export interface Held { which: Part; index: number }

/** Everything that the views draw, and the two ways to answer: `act` changes the state, `hover` and `hold` only the view. */
export interface Model {
  state: WordsState;
  /** Of the word that is shown: the one under the mouse, else the chosen one. */
  row: number;
  scene: Scene;
  look: Look;
  parts: (number | null)[];
  /** As drawn, on their way to look.weights. */
  weights: number[];
  pinned: number;
  say: Say;
  host: Host;
  /** Begins every id and name of this instance. */
  id: string;
  box: Box;
  held: Held | null;
  /** False in the page that is drawn beforehand: nothing can be pressed or dragged. */
  live: boolean;
  act(action: Action): void;
  hover(row: number | null): void;
  hold(held: Held | null): void;
}

/** Depth of the arcs: beside the words where the sentence reads down. */
export const depthOf = (box: Box): number => (box.down ? Math.min(118, Math.round(box.width * 0.3)) : 208);

const nothing = () => {};

/** The model of a state; what is not given is that of a page that stands still. */
export const modelOf = (state: WordsState, language: Language, rest: Partial<Model> = {}): Model => {
  const scene = sceneOf(state);
  const seen = look(scene, state.chosen);
  return {
    state, row: state.chosen, scene, look: seen, parts: percents(seen.weights, seen.allowed), weights: seen.weights,
    pinned: pinnedOf(state), say: sayIn(language), host: "file", id: "m",
    box: { width: 704, down: false, size: 48, centres: [], keys: 384, values: 384 },
    held: null, live: false, act: nothing, hover: nothing, hold: nothing, ...rest,
  };
};
