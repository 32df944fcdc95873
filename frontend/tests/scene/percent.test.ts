import { expect, test } from "vitest";
import { bigText, numberText, percents, percentText, readNumber, shortText } from "../../src/scene/percent";
import { random } from "./random";

const total = (parts: (number | null)[]) => parts.reduce((a: number, p) => a + (p ?? 0), 0);

test("percentages always sum to 100, each less than one away from the true share", () => {
  const r = random(23);
  for (let round = 0; round < 2000; round++) {
    const weights = r.weights(r.whole(1, 12));
    const parts = percents(weights);
    expect(total(parts)).toBe(100);
    parts.forEach((p, i) => expect(Math.abs(p! - 100 * weights[i])).toBeLessThan(1));
  }
});

test("the larger weight never gets the smaller number", () => {
  const r = random(29);
  for (let round = 0; round < 1000; round++) {
    const weights = r.weights(r.whole(2, 12));
    const parts = percents(weights);
    weights.forEach((a, i) => weights.forEach((b, j) => {
      if (a > b) expect(parts[i]!).toBeGreaterThanOrEqual(parts[j]!);
    }));
  }
});

test("the largest remainders are rounded up, then the larger, then the first", () => {
  expect(percents([1 / 3, 1 / 3, 1 / 3])).toEqual([34, 33, 33]);
  expect(percents([0.126, 0.254, 0.62])).toEqual([13, 25, 62]);
  expect(percents([0.125, 0.625, 0.25])).toEqual([12, 63, 25]); // of equal remainders the larger weight's
  expect(percents([0.29, 0.71])).toEqual([29, 71]); // 0.29 * 100 is 28.999999999999996
  expect(percents([0.0058, 0.9942])).toEqual([1, 99]);
});

test("what is tiny stays below one per cent while others can take the rest", () => {
  expect(percents([0.501, 0.491, 0.004, 0.004])).toEqual([51, 49, 0, 0]);
  expect(percents([0.997, 0.001, 0.001, 0.001])).toEqual([100, 0, 0, 0]);
  // Six times 0.4 make more than the one large number can take: it would be off by more than one.
  expect(total(percents([0.976, 0.004, 0.004, 0.004, 0.004, 0.004, 0.004]))).toBe(100);
});

test("masked words show no number, and a row that sees nobody sums to 0", () => {
  expect(percents([0.5, 0.5, 0], [true, true, false])).toEqual([50, 50, null]);
  expect(percents([1, 0], [true, true])).toEqual([100, 0]);
  expect(percents([0, 0], [false, false])).toEqual([null, null]);
  expect(total(percents([0.3, 0.2, 0.1]))).toBe(60); // a row with an attention sink: shown, never stretched
});

test("written as the language writes it", () => {
  expect(percentText(61, "es")).toBe("61\u202f%");
  expect(percentText(61, "en")).toBe("61%");
  expect(percentText(0, "es")).toBe("<1\u202f%");
  expect(percentText(0, "en")).toBe("<1%");
  expect(percentText(null, "es")).toBe("");
  expect([numberText(1.78, "es"), numberText(1.78, "en")]).toEqual(["1,78", "1.78"]);
  expect(numberText(-0.5, "es", 1)).toBe("\u22120,5");
  expect([numberText(-0.001, "en"), numberText(-0, "en", 0), shortText(-0.001, "es"), shortText(-0, "en")]).toEqual(["0.00", "0", "0", "0"]);
  expect([shortText(0.9, "es"), shortText(2, "es"), shortText(-1.25, "en")]).toEqual(["0,9", "2", "\u22121.25"]);
});

test("exponentials of any size can be read", () => {
  expect([5.94, 0, 12345.6, 0.0067, 1.23e-7, 2.64e153].map((x) => bigText(x, "es")))
    .toEqual(["5,94", "0,00", "12346", "0,0067", "1,2·10⁻⁷", "2,6·10¹⁵³"]);
  expect(bigText(2.64e153, "en")).toBe("2.6·10¹⁵³");
});

test("what was typed is read with comma or point, and refused with a reason", () => {
  const value = (text: string) => readNumber(text, -2.5, 2.5).value;
  expect([" 1,2 ", "1.2", "-0,5", "\u22120,5", "+2", ".5", "2,", "-0"].map(value)).toEqual([1.2, 1.2, -0.5, -0.5, 2, 0.5, 2, 0]);
  expect(readNumber("", 0, 1).fault).toEqual({ code: "number.empty" });
  for (const wrong of ["NaN", "Infinity", "1,2,3", "uno", "1e3", "0x1", "--1", "1 2"])
    expect(readNumber(wrong, 0, 1).fault).toEqual({ code: "number.nan", got: wrong });
  expect(readNumber("2,6", -2.5, 2.5).fault).toEqual({ code: "number.range", got: "2,6", low: -2.5, high: 2.5 });
  expect(readNumber("9".repeat(400), 0, 1).fault!.code).toBe("number.range");
});

test("numbers come back from their own text", () => {
  const r = random(31);
  for (let i = 0; i < 200; i++) {
    const x = Math.round(r.between(-25, 25)) / 10 || 0;
    for (const language of ["es", "en"] as const) expect(readNumber(shortText(x, language), -2.5, 2.5).value).toBe(x);
  }
});
