import type { ComponentChildren } from "preact";
import { catalogue } from "../catalogue";
import type { en } from "../catalogue/en";
import type { Fault } from "../scene/fault";
import { percentText, shortText, type Language } from "../scene/percent";
import { fill, nameOf, type Name, type Piece } from "../scene/summary";

/** What may fill a {name}: numbers are written as the language writes them; a piece is coloured by its role, which is
 *  a list of class names ("c" chosen, "k" key, "i" italic). */
export type Filling = string | number | Piece | Piece[];
export type Fillings = Record<string, Filling>;

/** Every sentence of the page in one language. *stars* in a template are emphasis; words that people typed are never
 *  read as such, since they always come as pieces with a role. */
export interface Say {
  language: Language;
  pieces(key: string, by?: Fillings): Piece[];
  rich(key: string, by?: Fillings): ComponentChildren;
  plain(key: string, by?: Fillings): string;
  percent(part: number | null): string;
  number(x: number): string;
}

export const sayIn = (language: Language): Say => {
  const pieces = (key: string, by: Fillings = {}): Piece[] =>
    fill(catalogue(key, language), Object.fromEntries(Object.entries(by).map(([name, x]) =>
      [name, typeof x === "object" ? x : { text: typeof x === "number" ? shortText(x, language) : x }])));
  return {
    language,
    pieces,
    rich: (key, by) => pieces(key, by).map(({ text, role }) =>
      role === undefined ? text.split("*").map((part, i) => (i % 2 ? <i>{part}</i> : part)) : <bdi class={role + (text.length > 24 ? " long" : "") || undefined}>{text}</bdi>),
    plain: (key, by) => pieces(key, by).map(({ text, role }) => (role === undefined ? text.replaceAll("*", "") : text)).join(""),
    percent: (part) => percentText(part, language),
    number: (x) => shortText(x, language),
  };
};

/** A word in its colour, followed by its neighbour where its text alone would name two words. */
export const word = (say: Say, words: string[], index: number, role = ""): Piece[] => named(say, nameOf(words, index), role);

const named = (say: Say, { text, near }: Name, role: string): Piece[] =>
  [{ text, role }, ...(near ? say.pieces(near.side, { near: { text: near.text, role: "" } }) : [])];

/** The same in quotation marks, as sentences name it. */
export const called = (say: Say, name: Name, role: string): Piece[] => {
  const [first, ...near] = named(say, name, role);
  return [...say.pieces("quoted", { word: first }), ...near];
};

/** What was wrong, in a sentence; what was typed comes back as it was. */
export const complain = (say: Say, { code, ...rest }: Fault): ComponentChildren =>
  say.rich(`fault.${code}` satisfies keyof typeof en, Object.fromEntries(Object.entries(rest).map(([k, v]) => [k, typeof v === "string" ? { text: v, role: "" } : v])));
