import { describe, expect, it } from "vitest";
import { trainEn } from "../../src/catalogue/train.en";
import { trainEs } from "../../src/catalogue/train.es";
import { look, type Scene } from "../../src/scene/scene";
import type { Line, Run } from "../../src/train/api";
import { blank, observe, predict } from "../../src/train/cards";
import { ceilingOf, mostFrequent } from "../../src/train/ceiling";
import { pathOf, pointsOf, ticks, valueAt } from "../../src/train/curves";
import finished from "../../src/train/finished.json";
import { telling } from "../../src/train/moments";
import { countText, lossText, shareText } from "../../src/train/numbers";
import { hidden, onPattern, shades } from "../../src/train/shades";
import { firstTwo, isCausal, isSelf, sceneOf, untried } from "../../src/train/tried";

describe("no more than 31.7 %", () => {
  it("is the most frequent of seven digits, counted out for smaller ones", () => {
    const counted = (draws: number, digits: number): number => {
      let sum = 0;
      for (let n = 0; n < digits ** draws; n++) {
        const counts = Array<number>(digits).fill(0);
        for (let rest = n, i = 0; i < draws; i++, rest = Math.floor(rest / digits)) counts[rest % digits]++;
        sum += Math.max(...counts);
      }
      return sum / digits ** draws / draws;
    };
    for (const [draws, digits] of [[1, 3], [3, 3], [5, 2], [4, 5], [7, 3], [5, 7]]) expect(mostFrequent(draws, digits)).toBeCloseTo(counted(draws, digits), 12);
    expect(mostFrequent(7)).toBeCloseTo(0.317, 3);
    expect(ceilingOf("copy")).toBeNull();
  });
});

describe("moments", () => {
  const at = (...xs: number[]) => xs.map((x) => [x]);
  it("are all where there is room", () => expect(telling(at(0, 1, 2), 3)).toEqual([0, 1, 2]));
  it("are as many as fit, the first and the last among them, in order", () => {
    for (let count = 1; count < 40; count++) {
      for (let most = 1; most < 12; most++) {
        const maps = Array.from({ length: count }, (_, i) => [Math.tanh(i - 9), 0.3]);
        const chosen = telling(maps, most);
        expect(chosen.length).toBe(Math.min(count, most));
        expect(new Set(chosen).size).toBe(chosen.length);
        expect([...chosen].sort((a, b) => a - b)).toEqual(chosen);
        expect(chosen.at(-1)).toBe(count - 1);
        if (most > 1) expect(chosen[0]).toBe(0);
      }
    }
  });
  it("are those where something happens", () => {
    expect(telling(at(0, 0, 0, 0, 0.5, 1, 1, 1, 1, 1), 3)).toEqual([0, 4, 9]);
  });
  it("read what is masked as nothing", () => expect(telling([[null, 0], [null, 1], [null, 1]], 2)).toEqual([0, 2]));
});

describe("curves", () => {
  const metrics = [
    { step: 9, kind: "training", loss: 2 }, { step: 9, kind: "validation", loss: 1.9, tokens: 0.1, sequences: 0 },
    { step: 18, kind: "training", loss: null }, { step: 18, kind: "validation", loss: null, tokens: 0.5, sequences: 0 },
  ] as Line[];
  it("leave out what is no number", () => {
    expect(pointsOf(metrics, "loss")).toEqual([[9, 2]]);
    expect(pointsOf(metrics, "tokens")).toEqual([[9, 0.1], [18, 0.5]]);
  });
  it("go through their points", () => {
    const x = { low: 0, high: 20, from: 100, to: 300 };
    const y = { low: 0, high: 1, from: 50, to: 0 };
    expect(pathOf([[0, 0], [10, 0.5], [20, 1]], x, y)).toBe("M100 50L200 25L300 0");
    expect(pathOf([], x, y)).toBe("");
  });
  it("are read between their points, never outside", () => {
    expect([9, 12, 18].map((s) => valueAt(pointsOf(metrics, "tokens"), s)!.toFixed(3))).toEqual(["0.100", "0.233", "0.500"]);
    expect([8, 19].map((s) => valueAt(pointsOf(metrics, "tokens"), s))).toEqual([null, null]);
  });
  it("have round ticks", () => {
    expect(ticks(313, 8)).toEqual([0, 50, 100, 150, 200, 250, 300]);
    expect(ticks(2.5, 3)).toEqual([0, 1, 2]);
    expect(ticks(0.3, 3)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(ticks(1, 4).length).toBeLessThanOrEqual(5);
  });
});

describe("maps", () => {
  it("are one path a shade", () => {
    expect(shades([[0, 1], [0.5, 1]])).toEqual([{ shade: 100, path: "M1 0h1v1h-1zM1 1h1v1h-1z" }, { shade: 50, path: "M0 1h1v1h-1z" }]);
    expect(hidden([[0.2, null], [1, 0]])).toBe("M1 0h1v1h-1z");
  });
  it("are measured on the pattern of their task", () => {
    const anti = [[0, 0, 1], [0, 1, 0], [1, 0, 0]];
    expect(onPattern("reverse", anti)).toBe(1);
    expect(onPattern("copy", anti)).toBeCloseTo(1 / 3);
    expect(onPattern("shift", [[0, 0, 1], [1, 0, 0], [0, 1, 0]])).toBe(1);
    expect(onPattern("sort", anti)).toBeNull();
    expect(onPattern("reverse", [[1, 0, 0]])).toBeNull();
  });
  it("of the run that is drawn beforehand end on the anti-diagonal, each row with all of its weight", () => {
    const last = finished.maps.at(-1)!;
    for (const head of last) expect(onPattern("reverse", head)! / 100).toBeGreaterThan(0.9);
    for (const head of finished.maps[0]) expect(onPattern("reverse", head)! / 100).toBeLessThan(0.2);
    for (const row of finished.maps.flat(2)) expect(Math.abs(row.reduce((a, b) => a + b) - 100)).toBeLessThanOrEqual(4);
    expect([finished.steps.length, finished.maps.length, last.length, last[0].length]).toEqual([6, 6, 2, 8]);
  });
});

describe("numbers", () => {
  it("stand in groups of three, in each language's way", () => {
    expect([7, 1234, 13_674, 1_234_567].map((n) => countText(n, "es"))).toEqual(["7", "1234", "13\u202f674", "1\u202f234\u202f567"]);
    expect([7, 1234, 13_674].map((n) => countText(n, "en"))).toEqual(["7", "1,234", "13,674"]);
  });
  it("are all only when they are", () => {
    expect(shareText(1, "es")).toBe("100,0\u202f%");
    expect([0, 0.317, 0.99999].map((s) => shareText(s, "en"))).toEqual(["0.0%", "31.7%", "99.9%"]);
    expect([shareText(null, "es"), lossText(undefined, "es"), lossText(0.0812, "es")]).toEqual(["–", "–", "0,081"]);
  });
});

describe("the cards", () => {
  const run = (positions: boolean, causal: boolean, state = "finished", task = "reverse") => ({ id: "r", task, state, options: { positions, causal } }) as unknown as Run;
  it("are answered by the run they ask for, once something was predicted", () => {
    expect(observe(blank, run(false, false))).toEqual(blank);
    const said = predict(blank, "positions", "half");
    expect(predict(said, "positions", "third")).toBe(said);
    expect(observe(said, run(false, false)).shown).toEqual({ positions: "r" });
    for (const other of [run(true, false), run(false, true), run(false, false, "running"), run(false, false, "finished", "copy")]) expect(observe(said, other)).toBe(said);
    expect(observe(predict(blank, "causal", "first"), run(true, true)).shown).toEqual({ causal: "r" });
  });
});

describe("what was tried", () => {
  const scene: Scene = { version: 1, rows: ["8", "3"], columns: ["8", "3"], query: [[1], [2]], key: [[0], [1]], scale: 0.5, temperature: 2, masks: [], axes: { rows: "", columns: "" } };
  const tried = (change: object, masks: Scene["masks"] = []) =>
    sceneOf({ ...untried, answer: { question: "", answer: "", right: null, tokens: { rows: [], columns: [] }, scenes: [{ block: 0, head: 0, scene: { ...scene, masks } }] }, ...change })!;
  it("is the model's own scene until something is changed", () => expect(tried({})).toEqual(scene));
  it("multiplies temperatures", () => expect(tried({ temperature: 3 }).temperature).toBe(6));
  it("puts a mask on and takes one off, and leaves others", () => {
    const padding = { kind: "padding", length: 1, side: "right" } as const;
    expect(tried({ causal: true }, [padding]).masks).toEqual([padding, { kind: "causal" }]);
    expect(tried({ causal: false }, [padding, { kind: "causal" }]).masks).toEqual([padding]);
    expect(tried({ causal: true }, [{ kind: "causal" }]).masks).toEqual([{ kind: "causal" }]);
    expect(isCausal([padding])).toBe(false);
  });
  it("is none without an answer", () => expect(sceneOf(untried)).toBeNull());
  it("knows a row of tokens that looks at itself", () => {
    expect(isSelf(scene)).toBe(true);
    expect(isSelf({ ...scene, columns: ["8", "4"] })).toBe(false);
  });
  it("names the two most looked at", () => {
    expect(firstTwo(look(scene, 1))).toEqual([1, 0]);
    expect(firstTwo(look(tried({ causal: true }), 0))).toEqual([0, -1]);
  });
});

it("says the same particulars in both languages, and nothing that the build would cut", () => {
  const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort().filter((n, i, all) => n !== all[i - 1]);
  for (const key of Object.keys(trainEn) as (keyof typeof trainEn)[]) {
    expect([key, names(trainEs[key])]).toEqual([key, names(trainEn[key])]);
    expect(trainEs[key] + trainEn[key]).not.toContain("|");
  }
});
