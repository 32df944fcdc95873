import data from "../../../src/mirada/views/words.json";
import type { Language } from "../scene/percent";

export type Vector = [number, number];
/** query, key and value of one word. */
export type Part = "query" | "key" | "value";
export const PARTS: Part[] = ["query", "key", "value"];
export type Given = "money" | "seat";

/** Coordinates lie in [-RANGE, RANGE], on a grid of STEP. */
export const RANGE = data.range;
export const STEP = data.step;

const vectors = data.vectors as unknown as Record<string, Record<Part, Vector>>;
const sentences = data.sentences as unknown as Record<Given, Record<Language, [string, string][]>>;

/** Which word stands at each position: the same name in both sentences and languages when it has the same vectors. */
export const ids = (sentence: Given, language: Language): string[] => sentences[sentence][language].map(([id]) => id);
export const texts = (sentence: Given, language: Language): string[] => sentences[sentence][language].map(([, word]) => word);
/** The vectors a word starts with. */
export const vector = (id: string, part: Part): Vector => [...vectors[id][part]];
