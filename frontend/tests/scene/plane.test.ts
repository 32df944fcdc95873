import { describe, expect, test } from "vitest";
import { placeKeys, placeLabels, placeValues, type LabelOut, type Size } from "../../src/scene/labels";
import { fromPixel, keyFrame, perpendicular, shadow, toPixel, valueFrame, type Point } from "../../src/scene/plane";
import { start } from "../../src/words/state";
import { random } from "./random";

const frame = keyFrame(384);
const grid = (r: ReturnType<typeof random>): Point => [r.whole(-25, 25) / 10, r.whole(-25, 25) / 10];

describe("frames", () => {
  test("the plane of keys is a square of ±2.7, y upwards", () => {
    expect(toPixel(frame, [-2.7, 2.7])).toEqual([0, 0]);
    expect(toPixel(frame, [0, 0])).toEqual([192, 192]);
    expect(toPixel(frame, [2.7, -2.7])).toEqual([384, 384]);
  });

  test("fromPixel takes toPixel back", () => {
    const r = random(7);
    for (let i = 0; i < 50; i++) {
      const p = grid(r);
      for (const f of [frame, valueFrame([p], 272)]) fromPixel(f, toPixel(f, p)).forEach((x, c) => expect(x).toBeCloseTo(p[c], 9));
    }
  });

  test("the plane of values shows the positive corner, and all once a value leaves it; one scale both ways", () => {
    const corner = valueFrame(start("money", "es").value, 384);
    expect(corner).toMatchObject({ x0: -0.6, y0: -0.5 });
    const wide = valueFrame([[0, 0], [-0.5, 1]], 384);
    expect(wide).toMatchObject({ x0: -2.7, y0: -0.5 });
    for (const f of [corner, wide, valueFrame([[1, -2.5]], 384)]) {
      expect(f.height / (f.y1 - f.y0)).toBeCloseTo(f.width / (f.x1 - f.x0), 0);
      for (const v of [[-0.4, 2.5], [2.5, -0.4]] as Point[]) {
        const [x, y] = toPixel(f, v);
        expect(Math.min(x, y, f.width - x, f.height - y)).toBeGreaterThan(5);
      }
    }
  });
});

describe("shadow", () => {
  test("banco's query and plata's key, as the page prints them", () => {
    const cast = shadow([0.9, 1.9], [0.9, 0.9])!;
    expect(cast.length.toFixed(2)).toBe("1.20");
    expect(cast.queryLength.toFixed(2)).toBe("2.10");
    expect(cast.product).toBeCloseTo(2.52, 12);
  });

  test("length times length is the product, and the drop is perpendicular to the query", () => {
    const r = random(11);
    for (let i = 0; i < 200; i++) {
      const [query, key] = [grid(r), grid(r)];
      const cast = shadow(query, key);
      if (!query[0] && !query[1]) { expect(cast).toBeNull(); continue; }
      const { foot, length, queryLength } = cast!;
      expect(length * queryLength).toBeCloseTo(query[0] * key[0] + query[1] * key[1], 9);
      expect((key[0] - foot[0]) * query[0] + (key[1] - foot[1]) * query[1]).toBeCloseTo(0, 9);
      expect(Math.hypot(...foot)).toBeCloseTo(Math.abs(length), 9);
    }
  });

  test("a query of length 0 has none", () => {
    expect(shadow([0, 0], [1, 2])).toBeNull();
    expect(perpendicular(frame, [0, 0], [1, 2])).toBeNull();
  });

  test("a key behind the centre casts it backwards", () => {
    expect(shadow([1, 0], [-2, 1])).toEqual({ foot: [-2, 0], length: -2, queryLength: 1, product: -2 });
  });
});

describe("perpendicular", () => {
  test("drawn: line to the edges, shadow six pixels beside the query, away from the key, a right angle at the foot", () => {
    const drawn = perpendicular(frame, [2, 0], [1, 1])!;
    const [x, y] = toPixel(frame, [1, 1]);
    expect(drawn.line).toEqual([[0, 192], [384, 192]]);
    expect(drawn.drop).toEqual([[x, y], [x, 192]]);
    expect(drawn.beside).toEqual([[192, 198], [x, 198]]);
    expect(drawn.angle).toBe(`M${x.toFixed(1)} 185L${(x - 7).toFixed(1)} 185L${(x - 7).toFixed(1)} 192`);
  });

  test("the line always ends on the frame; a key on the line has no right angle", () => {
    const r = random(13);
    for (let i = 0; i < 100; i++) {
      const query = grid(r);
      const drawn = perpendicular(frame, query, query);
      if (!drawn) continue;
      expect(drawn.angle).toBe("");
      for (const end of drawn.line) {
        expect(Math.min(...end.map((c) => Math.min(Math.abs(c), Math.abs(384 - c))))).toBeCloseTo(0, 9);
        end.forEach((c) => expect(c).toBeGreaterThan(-1e-9));
        end.forEach((c) => expect(c).toBeLessThan(384 + 1e-9));
      }
      for (const p of drawn.beside) p.forEach((c) => expect(Number.isFinite(c)).toBe(true));
    }
  });
});

describe("labels", () => {
  const box = ({ x, y }: LabelOut, [w, h]: Size) => ({ l: x - w / 2, r: x + w / 2, t: y - h / 2, b: y + h / 2 });
  type Box = ReturnType<typeof box>;
  const overlap = (a: Box, b: Box) => a.l < b.r && b.l < a.r && a.t < b.b && b.t < a.b;
  const distance = ([x, y]: Point, b: Box) => Math.hypot(Math.max(b.l - x, x - b.r, 0), Math.max(b.t - y, y - b.b, 0));
  const inside = (b: Box, width: number, height: number) => b.l >= 0 && b.t >= 0 && b.r <= width && b.b <= height;
  const free = (boxes: Box[], points: Point[], radius: number, width: number, height: number) => {
    boxes.forEach((b, i) => {
      expect(inside(b, width, height), `label ${i} is inside`).toBe(true);
      boxes.slice(i + 1).forEach((other, k) => expect(overlap(b, other), `labels ${i} and ${i + 1 + k} overlap`).toBe(false));
      points.forEach((p, k) => expect(distance(p, b), `label ${i} off point ${k}`).toBeGreaterThanOrEqual(radius));
    });
  };
  const sizes: Size[] = [[32, 20], [55, 20], [16, 20], [105, 20], [20, 20], [16, 20], [46, 20]];

  test("at rest every label stands next to its point, off the arrow and the perpendicular", () => {
    const { query, key } = start("money", "es");
    const put = placeKeys(frame, query[6], key, 3, [70, 18], sizes);
    expect([put.query, ...put.keys].map((p) => p.leader)).toEqual(Array(8).fill(false));
    const [tip, plata] = [toPixel(frame, query[6]), toPixel(frame, key[3])];
    expect(put.query).toMatchObject({ x: tip[0] + 15 + 35, y: tip[1] });
    expect(put.keys[3]).toMatchObject({ x: plata[0] + 15 + 105 / 2, y: plata[1] });
    free([box(put.query, [70, 18]), ...put.keys.map((p, i) => box(p, sizes[i]))], [tip, ...key.map((k) => toPixel(frame, k))], 9, 384, 384);
  });

  test("wherever keys and query are dragged, nothing is written over anything", () => {
    const r = random(17);
    for (let round = 0; round < 300; round++) {
      const count = r.whole(2, 12);
      const near = grid(r);
      // every third time the points crowd together, every ninth they all coincide
      const spread = round % 9 === 0 ? 0 : round % 3 === 0 ? 0.3 : 5;
      const keys = Array.from({ length: count }, (): Point =>
        near.map((x) => Math.min(Math.max(Math.round((x + r.between(-spread, spread)) * 10) / 10, -2.5), 2.5)) as Point);
      const size = r.pick([350, 384]);
      const f = keyFrame(size);
      const query = grid(r);
      const pinned = r.whole(-1, count - 1);
      const lengths = keys.map((_, i): Size => [r.whole(8, 60) + (i === pinned ? 50 : 0), 20]);
      const put = placeKeys(f, query, keys, pinned, [75, 18], lengths);
      free([box(put.query, [75, 18]), ...put.keys.map((p, i) => box(p, lengths[i]))],
        [query, ...keys].map((p) => toPixel(f, p)), 7, size, size);
      expect(placeKeys(f, query, keys, pinned, [75, 18], lengths)).toEqual(put); // the same again
    }
  });

  test("the same for values and the output", () => {
    const r = random(19);
    for (let round = 0; round < 200; round++) {
      const values = Array.from({ length: r.whole(2, 12) }, (): Point => [r.whole(-4, 25) / 10, r.whole(-4, 25) / 10]);
      const output: Point = [0, 1].map((c) => values.reduce((a, v) => a + v[c], 0) / values.length) as Point;
      const f = valueFrame(values, r.pick([272, 384]));
      const lengths = values.map((): Size => [r.whole(8, 60), 18]);
      const put = placeValues(f, output, values, [100, 18], lengths);
      free([box(put.output, [100, 18]), ...put.values.map((p, i) => box(p, lengths[i]))],
        [output, ...values].map((p) => toPixel(f, p)), 7, f.width, f.height);
    }
  });

  test("a stroke is kept off when another side is free, and crossed when none is", () => {
    const label = { at: [100, 100] as Point, width: 40, height: 20, radius: 10 };
    const under: [Point, Point] = [[60, 120], [140, 120]];
    expect(placeLabels([label], { discs: [], strokes: [] }, 200, 200)).toEqual([{ x: 100, y: 120, leader: false }]);
    expect(placeLabels([label], { discs: [], strokes: [under] }, 200, 200)).toEqual([{ x: 100, y: 80, leader: false }]);
    const all: [Point, Point][] = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [[100, 100], [100 + 200 * Math.cos(i * 0.785), 100 + 200 * Math.sin(i * 0.785)]]);
    expect(placeLabels([label], { discs: [], strokes: all }, 200, 200)).toHaveLength(1);
  });
});
