import { expect, test } from "vitest";
import { look } from "../../src/scene/scene";
import { toCsv } from "../../src/words/csv";
import { reduce, sceneOf, start, startOwn } from "../../src/words/state";

/** RFC 4180, read strictly. */
const parse = (text: string): string[][] => {
  const rows: string[][] = [[]];
  const cells = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy;
  for (let m; cells.lastIndex < text.length && (m = cells.exec(text)); ) {
    rows[rows.length - 1].push(m[1] === undefined ? m[2] : m[1].replaceAll('""', '"'));
    if (m[3] === "\r\n") rows.push([]);
  }
  expect(cells.lastIndex).toBe(text.length);
  expect(rows.pop()).toEqual([]); // ends with a line break
  return rows;
};

test("a line for each pair of words, every number at full precision", () => {
  const state = reduce(start("money", "es"), { type: "causal", on: true }, "es");
  const text = toCsv(state, "es");
  expect(text[0]).toBe("\ufeff");
  const [header, ...rows] = parse(text.slice(1));
  expect(rows).toHaveLength(49);
  for (const row of rows) expect(row).toHaveLength(header.length);
  rows.forEach((row, n) => {
    const [i, j] = [Math.floor(n / 7), n % 7];
    const { weights, scores, allowed, output } = look(sceneOf(state), i);
    expect([row[0], row[1], row[2], row[3]]).toEqual([String(i), state.words[i], String(j), state.words[j]]);
    expect(row.slice(4).map(Number)).toEqual([
      ...state.query[i], ...state.key[j], ...state.value[j], 1, state.query[i][0] * state.key[j][0] + state.query[i][1] * state.key[j][1],
      scores[j], allowed[j] ? 0 : 1, weights[j], ...output,
    ]);
  });
});

test("a header in each language, as long as the lines", () => {
  const header = (language: "es" | "en") => parse(toCsv(start("seat", language), language).slice(1))[0];
  expect(header("es").length).toBe(header("en").length);
  expect(header("es")).toContain("peso");
  expect(header("en")).toContain("weight");
});

test("words that look like formulas or break lines are text, and come back", () => {
  const words = ["=1+1", "+1", "-1", "@SUM(A1)", 'di "no", ya', "\tx", "＝1", "a=b"];
  const rows = parse(toCsv(startOwn(words), "en").slice(1)).slice(1);
  expect(rows.slice(0, 8).map((row) => row[3])).toEqual(["'=1+1", "'+1", "'-1", "'@SUM(A1)", 'di "no", ya', "'\tx", "'＝1", "a=b"]);
  expect(rows[0][4]).toBe("-1"); // a negative number stays a number
});
