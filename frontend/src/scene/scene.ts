import type { Fault, Result, SceneCode } from "./fault";

/** Who may look at whom. Kinds add up: a cell is seen when all of them allow it; biases are summed.
 *  `causal` and `window` count from the end, as if the rows were the last of the columns. */
export type Mask =
  | { kind: "causal" }
  | { kind: "window"; size: number }
  | { kind: "padding"; length: number; side: "right" | "left" }
  | { kind: "blocked"; table: boolean[][] }
  | { kind: "bias"; table: number[][] };

/** All that a view knows. Rows look, columns are looked at; they are addressed by position. */
export interface Scene {
  version: 1;
  rows: string[];
  columns: string[];
  query: number[][];
  key: number[][];
  value?: number[][];
  /** Multiplies query · key; 1/√head_dim unless given. */
  scale: number;
  temperature: number;
  masks: Mask[];
  axes: { rows: string; columns: string };
}

/** masked: may not be looked at, weight exactly 0; tiny: under half a per cent; seen: the rest. */
export type Kind = "masked" | "tiny" | "seen";

/** One row of a scene. */
export interface Look {
  /** query · key · scale / temperature + bias, also where masked. */
  scores: number[];
  /** Sums to 1, or to 0 when everything is masked. */
  weights: number[];
  allowed: boolean[];
  kinds: Kind[];
  /** The weighted mean of the values; empty without values. */
  output: number[];
}

const LIMIT = 1e60; // four factors of this size still multiply to a finite number
const LEAST = 1e-60; // written out, since 1 / 1e60 rounds to a little more
const MASKS: Record<string, string[]> = {
  causal: [], window: ["size"], padding: ["length", "side"], blocked: ["table"], bias: ["table"],
};

const stop = (code: SceneCode, rest: Omit<Fault, "code"> = {}): never => {
  throw { code, ...rest } satisfies Fault<SceneCode>;
};

const fields = (x: unknown, where: string, must: string[], may: string[] = []): Record<string, unknown> => {
  if (typeof x !== "object" || !x || Array.isArray(x)) return stop("scene.type", { where, want: "object" });
  const at = where && where + ".";
  for (const name of must) if (!Object.hasOwn(x, name)) stop("scene.missing", { where: at + name });
  for (const name of Object.keys(x)) if (![...must, ...may].includes(name)) stop("scene.unknown", { where: at + name });
  return x as Record<string, unknown>;
};

/** count: how many there must be; 0: at least one; -1: any number. */
const list = <T>(x: unknown, where: string, count: number, item: (x: unknown, where: string) => T): T[] => {
  if (!Array.isArray(x)) return stop("scene.type", { where, want: "list" });
  if (count ? count > 0 && x.length !== count : !x.length) stop("scene.count", { where, got: x.length, want: count || ">= 1" });
  return x.map((y, i) => item(y, `${where}[${i}]`));
};

const text = (x: unknown, where: string): string =>
  typeof x === "string" ? x : stop("scene.type", { where, want: "text" });

const flag = (x: unknown, where: string): boolean =>
  typeof x === "boolean" ? x : stop("scene.type", { where, want: "true or false" });

const number = (x: unknown, where: string): number => {
  if (typeof x !== "number") return stop("scene.type", { where, want: "number" });
  return Math.abs(x) <= LIMIT ? x : stop("scene.nan", { where, got: String(x) }); // also refuses NaN
};

const positive = (x: unknown, where: string): number => {
  const y = number(x, where);
  return y >= LEAST ? y : stop("scene.range", { where, got: y, want: "> 0" });
};

const whole = (x: unknown, where: string, low: number, high: number): number => {
  const y = number(x, where);
  return Number.isInteger(y) && y >= low && y <= high ? y : stop("scene.range", { where, got: y, low, high });
};

const mask = (x: unknown, where: string, rows: number, columns: number): Mask => {
  const kind = text(fields(x, where, ["kind"], ["size", "length", "side", "table"]).kind, where + ".kind");
  if (!Object.hasOwn(MASKS, kind)) stop("scene.mask", { where: where + ".kind", got: kind });
  const f = fields(x, where, ["kind", ...MASKS[kind]]);
  const table = <T>(item: (x: unknown, where: string) => T) =>
    list(f.table, where + ".table", rows, (row, at) => list(row, at, columns, item));
  switch (kind) {
    case "window": return { kind, size: whole(f.size, where + ".size", 1, LIMIT) };
    case "padding": {
      const side = f.side;
      if (side !== "right" && side !== "left") return stop("scene.type", { where: where + ".side", want: "right, left" });
      return { kind, length: whole(f.length, where + ".length", 0, columns), side };
    }
    case "blocked": return { kind, table: table(flag) };
    case "bias": return { kind, table: table(number) };
    default: return { kind: "causal" };
  }
};

const read = (json: unknown): Scene => {
  const f = fields(json, "", ["version", "rows", "columns", "query", "key"], ["value", "scale", "temperature", "masks", "axes"]);
  if (f.version !== 1) stop("scene.version", { got: String(f.version), want: 1 });
  const rows = list(f.rows, "rows", 0, text);
  const columns = list(f.columns, "columns", 0, text);
  /** A table whose rows all have as many numbers as its first. */
  const vectors = (x: unknown, where: string, count: number, size: number): number[][] => {
    let width = size;
    return list(x, where, count, (row, at) => {
      const vector = list(row, at, width, number);
      width = vector.length;
      return vector;
    });
  };
  const query = vectors(f.query, "query", rows.length, 0);
  const key = vectors(f.key, "key", columns.length, query[0].length);
  const axes = f.axes === undefined ? {} : fields(f.axes, "axes", [], ["rows", "columns"]);
  const axis = (name: string) => (axes[name] === undefined ? "" : text(axes[name], "axes." + name));
  return {
    version: 1, rows, columns, query, key,
    ...(f.value === undefined ? {} : { value: vectors(f.value, "value", columns.length, 0) }),
    scale: f.scale === undefined ? 1 / Math.sqrt(query[0].length) : positive(f.scale, "scale"),
    temperature: f.temperature === undefined ? 1 : positive(f.temperature, "temperature"),
    masks: f.masks === undefined ? [] : list(f.masks, "masks", -1, (m, at) => mask(m, at, rows.length, columns.length)),
    axes: { rows: axis("rows"), columns: axis("columns") },
  };
};

/** A scene from JSON (its text, or what JSON.parse made of it), with what may be left out filled in. */
export const parseScene = (json: unknown): Result<Scene, SceneCode> => {
  try {
    return { value: read(typeof json === "string" ? JSON.parse(json) : json) };
  } catch (fault) {
    return { fault: fault instanceof SyntaxError ? { code: "scene.json" } : (fault as Fault<SceneCode>) };
  }
};

/** Whether row may look at column, by one mask. */
const sees = (m: Mask, scene: Scene, row: number, column: number): boolean => {
  const at = row + scene.columns.length - scene.rows.length; // the rows are the last columns
  switch (m.kind) {
    case "causal": return column <= at;
    case "window": return Math.abs(at - column) < m.size;
    case "padding": return m.side === "right" ? column < m.length : column >= scene.columns.length - m.length;
    case "blocked": return !m.table[row][column];
    case "bias": return true;
  }
};

export const dot = (a: number[], b: number[]): number => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** One row of the scene: whom it may look at, how much it does, and what it takes with it. */
export const look = (scene: Scene, row: number): Look => {
  const { query, key, value, scale, temperature, masks } = scene;
  const allowed = key.map((_, j) => masks.every((m) => sees(m, scene, row, j)));
  const scores = key.map((k, j) => masks.reduce(
    (score, m) => (m.kind === "bias" ? score + m.table[row][j] : score), (dot(query[row], k) * scale) / temperature));
  const top = Math.max(...scores.filter((_, j) => allowed[j])); // -Infinity when everything is masked
  const powers = scores.map((s, j) => (allowed[j] ? Math.exp(s - top) : 0));
  const total = powers.reduce((a, b) => a + b, 0);
  const weights = powers.map((p) => (total ? p / total : 0));
  return {
    scores, weights, allowed,
    kinds: weights.map((w, j) => (!allowed[j] ? "masked" : w < 0.005 ? "tiny" : "seen")),
    output: value ? value[0].map((_, c) => weights.reduce((sum, w, j) => (allowed[j] ? sum + w * value[j][c] : sum), 0)) : [],
  };
};

/** The position most looked at (the first of equals), or -1 when nobody may be looked at. */
export const most = ({ weights, allowed }: Pick<Look, "weights" | "allowed">): number =>
  weights.reduce((best, w, j) => (allowed[j] && (best < 0 || w > weights[best]) ? j : best), -1);
