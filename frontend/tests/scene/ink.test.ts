import { expect, test } from "vitest";
import { inkHex, inkMix, onInk } from "../../src/scene/ink";

/** WCAG 2 contrast of a colour with black or white. */
const contrast = (hex: string, on: string) => {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return on === "#000" ? (y + 0.05) / 0.05 : 1.05 / (y + 0.05);
};

test("the table's steps, straight lines between, ends beyond the ends", () => {
  expect([0, 0.1, 0.5, 1].map((w) => inkHex(w, false))).toEqual(["#fcfaf5", "#e3e1dc", "#86827c", "#211c17"]);
  expect([0, 0.1, 0.5, 1].map((w) => inkHex(w, true))).toEqual(["#171411", "#292521", "#79746d", "#eee7db"]);
  expect(inkHex(0.05, false)).toBe("#f0eee9");
  expect([inkHex(-1, false), inkHex(2, true)]).toEqual(["#fcfaf5", "#eee7db"]);
});

test("a number on any ink is read with a contrast of at least 4.5", () => {
  for (const dark of [false, true]) for (let w = 0; w <= 1.0001; w += 0.005)
    expect(contrast(inkHex(w, dark), onInk(w, dark)), `${w} ${dark}`).toBeGreaterThanOrEqual(4.5);
});

test("for CSS: the same mixture from the page's own colours", () => {
  expect(inkMix(0.613)).toBe("color-mix(in oklab,var(--ink) 61.3%,var(--paper))");
});
