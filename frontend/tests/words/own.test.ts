import { describe, expect, test } from "vitest";
import { look } from "../../src/scene/scene";
import { ownVectors, readOwn } from "../../src/words/own";
import { RANGE } from "../../src/words/sentences";
import { sceneOf, snap, startOwn } from "../../src/words/state";

describe("what was typed", () => {
  test("white space separates; punctuation, accents and emoji stay as typed", () => {
    expect(readOwn("  ¿Quién  mira\ta\n «quién»? 🙂‍↔️ ").value).toEqual(["¿Quién", "mira", "a", "«quién»?", "🙂‍↔️"]);
    expect(readOwn("el perro y el gato").value).toEqual(["el", "perro", "y", "el", "gato"]); // the same word twice
    expect(readOwn("</script><b> سلام").value).toEqual(["</script><b>", "سلام"]);
  });

  test("2 to 12 words; any length of word", () => {
    const words = (n: number) => Array(n).fill("a").join(" ");
    expect(readOwn("").fault).toEqual({ code: "own.empty" });
    expect(readOwn(" \n ").fault).toEqual({ code: "own.empty" });
    expect(readOwn("sola").fault).toEqual({ code: "own.one" });
    expect(readOwn(words(2)).value).toHaveLength(2);
    expect(readOwn(words(12)).value).toHaveLength(12);
    expect(readOwn(words(13)).fault).toEqual({ code: "own.many", got: 13, want: 12 });
    expect(readOwn("x".repeat(300) + " y").value![0]).toHaveLength(300);
  });

  test("what nobody can see is no word; half an emoji is replaced, so that links can carry it", () => {
    expect(readOwn("a \u200b \u0301 \u202e b").value).toEqual(["a", "b"]);
    expect(readOwn("a\u0000b \ud83d").value).toEqual(["ab", "\ufffd"]);
    expect(readOwn("\u200b").fault).toEqual({ code: "own.empty" });
  });
});

describe.each([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])("starting vectors for %i words", (count) => {
  const { query, key, value } = ownVectors(count);
  const distance = (a: number[], b: number[]) => Math.hypot(a[0] - b[0], a[1] - b[1]);

  test("on the grid, inside the plane, the same every time", () => {
    for (const vectors of [query, key, value]) {
      expect(vectors).toHaveLength(count);
      for (const x of vectors.flat()) {
        expect(x).toBe(snap(x));
        expect(Math.abs(x)).toBeLessThan(RANGE);
        expect(Object.is(x, -0)).toBe(false);
      }
    }
    expect(ownVectors(count)).toEqual({ query, key, value });
  });

  test("far enough apart to be taken hold of, and values where both directions are positive", () => {
    // 44 px between two keys, 30 px between two values, in planes 350 px wide
    key.forEach((a, i) => key.slice(i + 1).forEach((b) => expect((distance(a, b) * 350) / 5.4).toBeGreaterThan(44)));
    value.forEach((a, i) => value.slice(i + 1).forEach((b) => expect((distance(a, b) * 350) / 4.2).toBeGreaterThan(30)));
    for (const q of query) for (const k of key) expect((distance(q, k) * 350) / 5.4).toBeGreaterThan(30);
    for (const x of value.flat()) expect(x).toBeGreaterThanOrEqual(0);
  });

  test("everybody looks chiefly at the word before, and no two gazes are the same", () => {
    const scene = sceneOf(startOwn(Array(count).fill("w")));
    const looks = scene.rows.map((_, i) => look(scene, i).weights);
    looks.forEach((weights, i) => {
      const before = (i + count - 1) % count;
      expect(weights.indexOf(Math.max(...weights))).toBe(before);
      expect(weights[before]).toBeGreaterThan(1.8 / count);
    });
    looks.forEach((a, i) => looks.slice(i + 1).forEach((b) => expect(Math.max(...a.map((x, j) => Math.abs(x - b[j])))).toBeGreaterThan(0.05)));
  });
});
