import type { Run } from "./api";

/** A card: what somebody predicts, and which run shows it. */
export interface Card { id: "positions" | "causal"; options: string[]; right: string; shows(run: Run): boolean }

const reverse = (run: Run, positions: boolean, causal: boolean) =>
  run.task === "reverse" && run.state === "finished"
  && run.options.positions === positions && run.options.causal === causal;

export const CARDS: Card[] = [
  { id: "positions", options: ["tenth", "third", "half", "all"], right: "third", shows: (run) => reverse(run, false, false) },
  { id: "causal", options: ["first", "second", "both", "neither"], right: "first", shows: (run) => reverse(run, true, true) },
];

/** What was predicted, and the id of the run that showed it, for each card. */
export interface Memory { said: Record<string, string>; shown: Record<string, string> }
export const blank: Memory = { said: {}, shown: {} };

/** The first prediction counts. */
export const predict = (memory: Memory, card: string, option: string): Memory =>
  memory.said[card] ? memory : { ...memory, said: { ...memory.said, [card]: option } };

/** A card is answered by a run that ends after its prediction was made. */
export const observe = (memory: Memory, run: Run): Memory =>
  CARDS.reduce((m, card) => (m.said[card.id] && !m.shown[card.id] && card.shows(run)
    ? { ...m, shown: { ...m.shown, [card.id]: run.id } } : m), memory);
