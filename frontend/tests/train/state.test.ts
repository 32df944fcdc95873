import { describe, expect, it } from "vitest";
import type { Line, Maps, Run, Whole } from "../../src/train/api";
import { apply, atRest, historyOf, kindsOf, known, nearest, slide } from "../../src/train/state";

const run: Run = {
  id: "reverse-2", task: "reverse", family: "encoder", state: "running", place: null, step: 0, steps: 313, parameters: 13_674, score: null,
  options: { positions: true, causal: false, epochs: null, d_model: 32, heads: 2, blocks: 1, seed: 0 },
  heads: 2, blocks: 1, error: null, warning: null, ours: true,
};
const line = (step: number, loss: number): Line => ({ step, kind: "training", loss });
const seen = (step: number, tokens: number): Line => ({ step, kind: "validation", loss: 1, tokens, sequences: 0 });
const maps = (step: number, kind = "self", w = 1): Maps => ({ step, kind, maps: [[[[w]]]] });
const empty = { run, metrics: [] as Line[], maps: [] as Maps[] };
const tell = (event: string, data: unknown) => ({ id: "1", event, data });
const told = (...events: [string, unknown][]) => events.reduce((w, [event, data]) => apply(w, tell(event, data)), empty);

describe("what is known of a run", () => {
  it("parts what was told whole", () => {
    const whole: Whole = { ...run, metrics: [line(9, 2)], maps: [maps(0)], event: 7 };
    expect(known(whole)).toEqual({ run, metrics: [line(9, 2)], maps: [maps(0)] });
  });

  it("grows by lines and maps, and the step and the score with them", () => {
    const now = told(["line", line(9, 2.3)], ["line", seen(9, 0.1)], ["maps", maps(9)], ["line", line(18, 2.2)]);
    expect(now.metrics).toEqual([line(9, 2.3), seen(9, 0.1), line(18, 2.2)]);
    expect(now.maps).toEqual([maps(9)]);
    expect(now.run.step).toBe(18);
    expect(now.run.score).toEqual({ loss: 1, tokens: 0.1, sequences: 0 });
  });

  it("stays the same object when it is told again what it knows", () => {
    const now = told(["line", line(9, 2.3)], ["maps", maps(9)]);
    expect(apply(now, tell("line", line(9, 2.3)))).toBe(now);
    expect(apply(now, tell("maps", maps(9)))).toBe(now);
    expect(apply(now, tell("run", { ...now.run }))).toBe(now);
    expect(apply(now, tell("something", {}))).toBe(now);
  });

  it("keeps maps of different kinds at one step", () => {
    const now = told(["maps", maps(0, "cross")], ["maps", maps(0, "encoder")], ["maps", maps(9, "cross")]);
    expect(historyOf(now.maps, "cross").map(({ step }) => step)).toEqual([0, 9]);
    expect(historyOf(now.maps, "encoder").map(({ step }) => step)).toEqual([0]);
    expect(kindsOf([maps(0, "encoder"), maps(0, "cross"), maps(9, "encoder")])).toEqual(["cross", "encoder"]);
  });

  it("forgets what a run that goes on from a checkpoint does again", () => {
    const now = told(["line", line(9, 2.3)], ["line", line(18, 2.2)], ["maps", maps(18)], ["run", { ...run, step: 9 }]);
    expect(now.metrics).toEqual([line(9, 2.3)]);
    expect(now.maps).toEqual([]);
    const again = apply(now, tell("line", line(18, 2.25)));
    expect(again.metrics).toEqual([line(9, 2.3), line(18, 2.25)]);
  });

  it("puts a number that is not one nowhere", () => {
    expect(told(["line", { step: 9, kind: "validation", loss: null }]).run.score).toEqual({ loss: null, tokens: null, sequences: null });
  });

  it.each(["waiting", "running"] as const)("does not rest while %s", (state) => expect(atRest({ ...run, state })).toBe(false));
  it.each(["paused", "finished", "cancelled", "failed"] as const)("rests when %s", (state) => expect(atRest({ ...run, state })).toBe(true));
});

describe("the slider through the history", () => {
  const steps = [0, 9, 18, 27, 31];
  it("finds the nearest, the earlier of two", () => {
    expect([-5, 0, 4, 5, 30, 99].map((step) => nearest(steps, step))).toEqual([0, 0, 0, 1, 4, 4]);
    expect(nearest([0, 10], 5)).toBe(0);
    expect(nearest([], 3)).toBe(-1);
  });
  it("goes to the neighbour for a small push, and no farther than the ends", () => {
    expect(slide(steps, 1, 10)).toBe(2);
    expect(slide(steps, 1, 8)).toBe(0);
    expect(slide(steps, 4, 32)).toBe(4);
    expect(slide(steps, 0, -1)).toBe(0);
    expect(slide(steps, 2, 18)).toBe(2);
  });
  it("goes to the nearest for a large one", () => expect(slide(steps, 0, 29)).toBe(3));
});
