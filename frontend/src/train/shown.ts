import { telling } from "./moments";
import { historyOf, kindsOf, nearest, type Watched } from "./state";

/** What is chosen of a run's maps: the step (null: the newest), the block, and the kind where there are several. */
export interface Chosen { at: number | null; block: number; kind: string | null }

/** The maps of a run as they are shown. */
export const mapsOf = (watched: Watched | null, { at, block, kind }: Chosen, slots: number) => {
  const kinds = watched ? kindsOf(watched.maps) : [];
  const one = kind !== null && kinds.includes(kind) ? kind : kinds[0];
  const past = watched && one ? historyOf(watched.maps, one) : [];
  const steps = past.map(({ step }) => step);
  const chosen = at === null ? past.length - 1 : nearest(steps, at);
  const now = past[chosen];
  const layer = Math.min(block, (now?.maps.length ?? 1) - 1);
  return {
    kinds, kind: one, steps, chosen, now, block: layer, last: past.at(-1), newest: chosen === past.length - 1,
    /** A few moments that tell how it came about, side by side. */
    shown: telling(past.map(({ maps }) => maps[layer].flat(2)), slots).map((i) => past[i]),
  };
};
