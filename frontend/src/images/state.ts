import { blank, FULL, SIDE } from "./strokes";
import type { View } from "./gaze";

export const SOURCES = ["china", "flower", "digit", "own"] as const;
export type Source = (typeof SOURCES)[number];

/** What is chosen on the page, but for a person's own picture. */
export interface Shown extends View {
  source: Source;
  /** Who looks; null: the first there is for that source. */
  model: string | null;
  /** The patch that looks, counted from 0 row after row; -1 is [CLS]. */
  query: number;
  /** The digit: 64 whole numbers from 0 to 16. */
  cells: number[];
}

/** A three, as somebody wrote it: the first of scikit-learn's digits that is one. */
export const THREE = [
  0, 0, 7, 15, 13, 1, 0, 0, 0, 8, 13, 6, 15, 4, 0, 0, 0, 2, 1, 13, 13, 0, 0, 0, 0, 0, 2, 15, 11, 1, 0, 0,
  0, 0, 0, 1, 12, 12, 1, 0, 0, 0, 0, 0, 1, 10, 8, 0, 0, 0, 8, 4, 5, 14, 9, 0, 0, 0, 7, 13, 13, 9, 0, 0,
];

const view: View = { block: 0, head: null, rollout: false, temperature: 1 };

/** How a source is looked at unless told otherwise: a digit by [CLS], which answers; a photograph by its patch 11, row 1
 *  and column 1 of the samples. */
export const startOf = (source: Source): Shown =>
  ({ ...view, source, model: null, query: source === "digit" ? -1 : 11, cells: source === "digit" ? THREE : blank() });

export const TEMPERATURES = [0.1, 10] as const;

/** The fragment (without #) that leads back here: only what differs from how its source begins. s source · m model ·
 *  p patch · b block · h head, from 1 as they are written · r through all blocks · t temperature · d the cells of a
 *  digit, in base 17. A person's own picture is nowhere but in the page. */
export const toLink = (shown: Shown): string => {
  const from = startOf(shown.source);
  const parts: string[] = [];
  if (shown.source !== "china" && shown.source !== "own") parts.push("s=" + shown.source);
  if (shown.model !== from.model) parts.push("m=" + encodeURIComponent(shown.model!));
  if (shown.query !== from.query) parts.push("p=" + (shown.query < 0 ? "cls" : shown.query));
  if (shown.block !== from.block) parts.push("b=" + (shown.block + 1));
  if (shown.head !== null) parts.push("h=" + (shown.head + 1));
  if (shown.rollout) parts.push("r=1");
  if (shown.temperature !== 1) parts.push("t=" + shown.temperature);
  if (shown.source === "digit" && shown.cells.some((x, i) => x !== from.cells[i])) parts.push("d=" + shown.cells.map((x) => x.toString(FULL + 1)).join(""));
  return parts.join("&");
};

/** What a fragment says; null where something in it is broken: nothing broken is half believed. */
export const fromLink = (fragment: string): Shown | null => {
  const given = new Map<string, string>();
  for (const part of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
    const [, name, text] = /^([smpbhrtd])=(.+)$/.exec(part) ?? [];
    if (!name || given.has(name)) return null;
    try {
      given.set(name, decodeURIComponent(text));
    } catch {
      return null;
    }
  }
  const source = given.get("s") ?? "china";
  if (source === "own" || !SOURCES.includes(source as Source)) return null;
  const shown = startOf(source as Source);
  /** A whole number from 1 on, as it is counted on the page, or what is there without one. */
  const whole = (name: string, low: number, usual: number): number => {
    const text = given.get(name);
    return text === undefined ? usual : /^\d{1,4}$/.test(text) && +text >= low ? +text - low : NaN;
  };
  shown.model = given.get("m") ?? null;
  shown.query = given.get("p") === "cls" ? -1 : whole("p", 0, shown.query);
  shown.block = whole("b", 1, 0);
  shown.head = given.has("h") ? whole("h", 1, 0) : null;
  shown.rollout = given.get("r") === "1";
  const t = given.get("t") ?? "1";
  shown.temperature = /^\d+(\.\d+)?$/.test(t) && +t >= TEMPERATURES[0] && +t <= TEMPERATURES[1] ? +t : NaN;
  const cells = given.get("d");
  if (cells !== undefined) {
    if (source !== "digit" || !/^[0-9a-g]+$/.test(cells) || cells.length !== SIDE * SIDE) return null;
    shown.cells = [...cells].map((x) => parseInt(x, FULL + 1));
  }
  const numbers = [shown.query, shown.block, shown.head ?? 0, shown.temperature];
  return numbers.some(Number.isNaN) || (given.has("r") && !shown.rollout) ? null : shown;
};
