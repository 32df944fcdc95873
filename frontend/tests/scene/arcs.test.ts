import { expect, test } from "vitest";
import { arcs, type Arc, type ArcInput, type ArcSize } from "../../src/scene/arcs";
import { random } from "./random";

const weights = [0.02, 0.03, 0.03, 0.61, 0.02, 0.01, 0.28];
const centres = [43, 179, 291, 380, 477, 540, 641];
const all = weights.map(() => true);
const banco: ArcInput = { centres, weights, allowed: all, chosen: 6, size: "wide" };

/** The numbers of a path: M x y [L x y] A rx ry 0 0 sweep x y [L x y]. */
const shape = (arc: Arc) => {
  const [start, rest] = arc.path.split("A");
  const n = (s: string) => s.split(/[ ML]/).filter(Boolean).map(Number);
  const before = n(start);
  const [rx, ry, , , sweep, x, y, ...after] = n(rest);
  return { before, rx, ry, sweep, x, y, after };
};

/** Points of the middle line, read back from the path that is drawn. */
const points = (arc: Arc, count = 90): [number, number][] => {
  const { before, rx, ry, sweep, x, y, after } = shape(arc);
  const [sx, sy] = before.slice(-2);
  const [cx, cy] = [(sx + x) / 2, (sy + y) / 2];
  const half = Array.from({ length: count + 1 }, (_, i): [number, number] => {
    const angle = Math.atan2((sy - cy) / ry, (sx - cx) / rx) + (sweep ? 1 : -1) * Math.PI * (i / count);
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)];
  });
  const leg = (a: number[], b: number[]) =>
    Array.from({ length: 10 }, (_, i): [number, number] => [a[0] + ((b[0] - a[0]) * i) / 10, a[1] + ((b[1] - a[1]) * i) / 10]);
  return [...(before.length > 2 ? leg(before, [sx, sy]) : []), ...half, ...(after.length ? leg(after, [x, y]) : [])];
};

/** The least distance between two strokes' edges. */
const apart = (a: Arc, b: Arc) => {
  let least = Infinity;
  const other = points(b);
  for (const [x, y] of points(a)) for (const [u, v] of other) {
    const square = (x - u) ** 2 + (y - v) ** 2;
    if (square < least) least = square;
  }
  return Math.sqrt(least) - (a.width + b.width) / 2;
};

/** A sentence of random words, set as a page sets it. */
const sentence = (r: ReturnType<typeof random>, size: ArcSize) => {
  const count = r.whole(2, 12);
  if (size === "phone") return Array.from({ length: count }, (_, i) => 22.5 + 45 * i);
  const lengths = Array.from({ length: count }, () => r.whole(1, 9));
  const em = Math.min(48, 704 / (0.5 * lengths.reduce((a, b) => a + b) + 0.42 * count)) * (size === "small" ? 0.4 : 1);
  let at = 0;
  return lengths.map((n) => {
    at += em * (0.5 * n + 0.42);
    return at - (em * 0.5 * n) / 2;
  });
};

/** Nearly all on one or two: thick arcs close to each other, or to the loop, are the hardest to keep apart. */
const twoThick = (r: ReturnType<typeof random>, count: number) => {
  const weights = Array<number>(count).fill(0.001);
  const share = r.next();
  weights[r.whole(0, count - 1)] += share;
  weights[r.whole(0, count - 1)] += 1 - share;
  const total = weights.reduce((a, b) => a + b);
  return weights.map((w) => w / total);
};

test("widths are strictly proportional to the weights, with a floor of one pixel", () => {
  for (const arc of arcs({ ...banco, centres: centres.map((c) => c * 1.2) }))
    expect(arc.width).toBe(Math.max(34 * weights[arc.column], 1));
  expect(arcs({ ...banco, size: "phone", centres: [0, 45, 90, 135, 180, 225, 270] })[0].column).toBe(0);
  const phone = arcs({ ...banco, size: "phone", centres: [0, 45, 90, 135, 180, 225, 270] });
  expect(phone.find((a) => a.column === 3)!.width).toBeCloseTo(22 * 0.61, 9);
  const small = arcs({ ...banco, size: "small" });
  expect(small.find((a) => a.column === 3)!.width).toBeCloseTo(17 * 0.61, 9);
  expect(small.find((a) => a.column === 5)!.width).toBe(0.75);
});

test("banco at the start, number by number", () => {
  const drawn = arcs(banco);
  expect(drawn.map((a) => a.column)).toEqual([0, 1, 2, 3, 4, 5, 6]); // far to near, then the loop
  expect(drawn.map((a) => a.path)).toMatchSnapshot();
  const ana = drawn[0];
  expect(ana.height).toBeCloseTo(2.14 * (ana.from - 43) ** 0.7 + 0.5, 9);
  expect(ana.gradient).toEqual({ x1: +ana.from.toFixed(1), y1: 0, x2: 43, y2: 0, at: +(150 / (ana.from - 43)).toFixed(3) });
  expect(drawn[5].gradient.at).toBe(0.62);
});

test("feet stand side by side: left near to far, right far to near, then the word itself", () => {
  const drawn = arcs({ ...banco, chosen: 3 });
  const order = [...drawn].sort((a, b) => a.from - b.from);
  expect(order.map((a) => a.column)).toEqual([2, 1, 0, 6, 5, 4, 3]);
  order.slice(1).forEach((arc, i) => {
    const gap = arc.from - arc.width / 2 - (order[i].from + order[i].width / 2);
    expect(gap).toBeCloseTo(arc.loop ? 7 : 1.6, 9);
  });
  // Feet and loop together stand centred on the word.
  const loop = drawn.find((a) => a.loop)!;
  expect((order[0].from - order[0].width / 2 + loop.to + loop.width / 2) / 2).toBeCloseTo(centres[3], 9);
});

test("the loop: radius max(11, w/2 + 6), a stem of 9, coming down to the right", () => {
  const thin = arcs(banco).find((a) => a.loop)!;
  expect(thin.to - thin.from).toBeCloseTo(22, 9);
  const alone = arcs({ ...banco, chosen: 0, allowed: all.map((_, j) => !j), weights: [1, 0, 0, 0, 0, 0, 0] });
  expect(alone).toHaveLength(1);
  expect(alone[0]).toMatchObject({ column: 0, width: 34, height: 9 + 23, loop: true });
  expect(alone[0].path).toBe("M20 208L20 199A23 23 0 0 1 66 199L66 208");
});

test("masked words have no arc", () => {
  const allowed = [true, true, true, true, true, true, false];
  expect(arcs({ ...banco, chosen: 5, allowed }).map((a) => a.column).sort()).toEqual([0, 1, 2, 3, 4, 5]);
  expect(arcs({ ...banco, allowed: all.map(() => false) })).toEqual([]);
});

test.each<ArcSize>(["wide", "phone", "read", "small"])("no two arcs ever touch, and all stay in the picture: %s", (size) => {
  const r = random(41);
  for (let round = 0; round < 60; round++) {
    const centres = sentence(r, size);
    const chosen = r.whole(0, centres.length - 1);
    const allowed = centres.map((_, j) => round % 3 > 0 || j <= chosen);
    const down = size === "phone";
    const depth = down ? 118 : size === "small" ? 100 : 208;
    const seen = allowed.filter(Boolean).length;
    const some = round % 2 ? r.weights(seen) : twoThick(r, seen);
    let next = 0;
    const drawn = arcs({ centres, weights: allowed.map((a) => (a ? some[next++] : 0)), allowed, chosen, size, depth, down });
    expect(drawn).toHaveLength(seen);
    for (const arc of drawn) {
      expect(arc.height + arc.width / 2).toBeLessThanOrEqual(depth + 0.05);
      for (const other of drawn) if (other.column > arc.column)
        expect(apart(arc, other), `round ${round}: ${arc.path} (${arc.width}) and ${other.path} (${other.width})`).toBeGreaterThan(0);
    }
  }
});

test.each([18, 24, 30, 36, 45, 56])("twelve short words %i px apart: bundle, loop and the next feet do not touch", (step) => {
  const centres = Array.from({ length: 12 }, (_, i) => 20 + step * i);
  for (const chosen of [0, 5]) for (const near of [1, -1]) for (const share of [1, 0.9, 0.6, 0.3, 0.1, 0]) {
    const other = centres[chosen + near] ? chosen + near : chosen - near;
    const weights = centres.map((_, j) => (j === chosen ? 0.99 * share : j === other ? 0.99 * (1 - share) : 0.001));
    const drawn = arcs({ centres, weights, allowed: centres.map(() => true), chosen, size: "wide" });
    for (const arc of drawn) for (const b of drawn) if (b.column > arc.column)
      expect(apart(arc, b), `${chosen} ${share}: ${arc.path} (${arc.width}) and ${b.path} (${b.width})`).toBeGreaterThan(0);
  }
});

test("a sentence that reads down has the same arcs, on their side", () => {
  const across = arcs({ ...banco, chosen: 3 });
  const down = arcs({ ...banco, chosen: 3, down: true });
  across.forEach((arc, i) => {
    const turned = points(down[i]).map(([x, y]) => [y, x]);
    points(arc).forEach((p, k) => {
      expect(turned[k][0]).toBeCloseTo(p[0], 6);
      expect(turned[k][1]).toBeCloseTo(p[1], 6);
    });
    expect(down[i].gradient).toEqual({ x1: 0, y1: arc.gradient.x1, x2: 0, y2: arc.gradient.x2, at: arc.gradient.at });
  });
});
