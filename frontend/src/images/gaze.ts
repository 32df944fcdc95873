import { look, type Scene } from "../scene/scene";
import type { Seen } from "./api";

/** How much each row looks at each column; every row sums to 1. The library's own numbers are compared with these in
 *  tests/images/gaze.test.ts. */
export type Table = number[][];

/** The softmax of one head at a temperature. */
export const tableOf = (scene: Scene, temperature = 1): Table => {
  const whole = { ...scene, masks: scene.masks ?? [], temperature: (scene.temperature ?? 1) * temperature, scale: scene.scale ?? 1 / Math.sqrt(scene.query[0].length) };
  return scene.rows.map((_, row) => look(whole, row).weights);
};

export const mean = (tables: Table[]): Table =>
  tables[0].map((row, i) => row.map((_, j) => tables.reduce((sum, table) => sum + table[i][j], 0) / tables.length));

const times = (a: Table, b: Table): Table =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)));

/** Where a look ends up after several blocks (Abnar and Zuidema, 2020): each block's mean over its heads, half of it the
 *  token itself, since that is added on (then rows still sum to 1), one block after the other. blocks: from the first on. */
export const rollout = (blocks: Table[]): Table =>
  blocks.map((table) => table.map((row, i) => row.map((w, j) => (w + +(i === j)) / 2))).reduce((before, table) => times(table, before));

/** What is looked at: one head of one block, the mean of its heads (head null), or all blocks up to that one. */
export interface View { block: number; head: number | null; rollout: boolean; temperature: number }

export const blocksOf = ({ scenes }: Seen): number => Math.max(0, ...scenes.map(({ block }) => block + 1));
export const headsOf = ({ scenes }: Seen): number => scenes.filter(({ block }) => !block).length;

/** The table of a view; what it chose beyond what the model has is the last there is. */
export const viewed = (seen: Seen, { block, head, rollout: through, temperature }: View): Table => {
  const last = Math.min(block, blocksOf(seen) - 1);
  const tables = (of: number) => seen.scenes.filter((s) => s.block === of).map(({ scene }) => tableOf(scene, temperature));
  if (through) return rollout(Array.from({ length: last + 1 }, (_, b) => mean(tables(b))));
  if (head === null) return mean(tables(last));
  const scenes = seen.scenes.filter((s) => s.block === last);
  return tableOf(scenes[Math.min(head, scenes.length - 1)].scene, temperature);
};

/** One row, as it is laid over the picture. cls: the weight on [CLS], null where there is none. */
export interface Gazed { patches: number[]; cls: number | null }

export const gazed = (table: Table, tokens: string[], query: number): Gazed => {
  const row = table[tokenOf(tokens, query)];
  const first = firstPatch(tokens);
  return { patches: row.slice(first), cls: first ? row[0] : null };
};

/** How many tokens come before the first patch. */
export const firstPatch = (tokens: string[]): number => +(tokens[0] === "[CLS]");

/** The place in the sentence of a patch, counted from 0, or of [CLS], which is -1 (the first patch where there is none). */
export const tokenOf = (tokens: string[], query: number): number =>
  Math.min(Math.max(query + firstPatch(tokens), 0), tokens.length - 1);

/** How clearly each patch is seen: 1 is the one most looked at. The asker itself is no measure for the others, since it
 *  may look at itself many times as much, as it always does through several blocks. */
export const clearness = (patches: number[], asker: number): { top: number; clear: number[] } => {
  const top = Math.max(...patches.filter((_, i) => i !== asker));
  return { top, clear: patches.map((w) => Math.min(1, w / top)) };
};

/** The places most looked at, first the most; [CLS] is -1. */
export const most = ({ patches, cls }: Gazed, count: number): { at: number; weight: number }[] =>
  [...patches.map((weight, at) => ({ at, weight })), ...(cls === null ? [] : [{ at: -1, weight: cls }])]
    .sort((a, b) => b.weight - a.weight || a.at - b.at).slice(0, count);
