import type { Line, Maps, Run, Whole } from "./api";
import type { Sent } from "./stream";

/** A run as the page knows it. */
export interface Watched { run: Run; metrics: Line[]; maps: Maps[] }

export const known = ({ metrics, maps, event: _, ...run }: Whole): Watched => ({ run, metrics, maps });

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The list with one entry more. One that is there already changes nothing; else what a run does again takes the place
 *  of what was there from that step on. */
const put = <T extends { step: number; kind: string }>(list: T[], entry: T): T[] => {
  const at = list.findIndex((each) => each.step === entry.step && each.kind === entry.kind);
  if (at >= 0 && same(list[at], entry)) return list;
  return [...list.filter(({ step, kind }) => step < entry.step || (step === entry.step && kind !== entry.kind)), entry];
};

/** What an event changes; the same object where it changes nothing. */
export const apply = (watched: Watched, { event, data }: Sent): Watched => {
  switch (event) {
    case "run":
    case "end": {
      const run = data as Run;
      if (same(watched.run, run)) return watched;
      // What came after the checkpoint from which it goes on will be done again.
      const until = <T extends { step: number }>(list: T[]) => (list.some(({ step }) => step > run.step) ? list.filter(({ step }) => step <= run.step) : list);
      return { run, metrics: until(watched.metrics), maps: until(watched.maps) };
    }
    case "line": {
      const line = data as Line;
      const metrics = put(watched.metrics, line);
      const step = Math.max(watched.run.step, line.step);
      if (metrics === watched.metrics && step === watched.run.step) return watched;
      const { loss, tokens, sequences } = line;
      const score = line.kind === "validation" ? { loss: loss ?? null, tokens: tokens ?? null, sequences: sequences ?? null } : watched.run.score;
      return { ...watched, metrics, run: { ...watched.run, step, score } };
    }
    case "maps": {
      const maps = put(watched.maps, data as Maps);
      return maps === watched.maps ? watched : { ...watched, maps };
    }
    default:
      return watched;
  }
};

/** It will not come by itself to anything else. */
export const atRest = (run: Run): boolean => run.state !== "running" && run.state !== "waiting";

/** The kinds of attention that there are maps of: the looks from answer to question first. */
export const kindsOf = (maps: Maps[]): string[] => {
  const kinds = [...new Set(maps.map(({ kind }) => kind))];
  return kinds.sort((a, b) => +(b === "cross") - +(a === "cross"));
};

/** The history of one kind. */
export const historyOf = (maps: Maps[], kind: string): Maps[] => maps.filter((each) => each.kind === kind);

/** Which of the steps is nearest; the earlier of two; -1 of none. */
export const nearest = (steps: number[], step: number): number =>
  steps.reduce((best, each, i) => (best < 0 || Math.abs(each - step) < Math.abs(steps[best] - step) ? i : best), -1);

/** Where a slider that stood on one of the steps comes to stand when its value changes: a small push goes one on. */
export const slide = (steps: number[], from: number, value: number): number => {
  const to = nearest(steps, value);
  if (to !== from || value === steps[from]) return to;
  return Math.min(Math.max(from + Math.sign(value - steps[from]), 0), steps.length - 1);
};
