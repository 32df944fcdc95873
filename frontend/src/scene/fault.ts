/** What can be wrong with what a person types or a link says. The catalogue makes the sentence from the code and the
 *  particulars; nothing here is written in a human language. */
export type FaultCode =
  | "own.empty" // no word
  | "own.one" // one word alone: nobody else to look at
  | "own.many" // got: how many words; want: 12
  | "number.empty" // nothing typed
  | "number.nan" // got: what was typed
  | "number.range" // got: the number; low, high: the bounds
  | "link.version" // got
  | "link.unknown" // where: a part that is not known
  | "link.repeat" // where: a part given twice
  | "link.value" // where; got: neither a language, a sentence nor an on/off
  | "link.number" // where; got: not a (pair of) finite number(s)
  | "link.range" // where; got; low, high
  | "link.word" // where; got: a position; high: the last position of the sentence
  | "link.count" // got: how many own words; 2 to 12 are expected
  | "link.encoding"; // where: percent signs that decode to no text

/** What can be wrong with a scene that a program hands in: no page reads one, so these have no sentence. */
export type SceneCode =
  | "scene.json" // not JSON at all
  | "scene.version" // got: the version found; want: 1
  | "scene.missing" // where: the field
  | "scene.unknown" // where: a field that no scene has
  | "scene.type" // where; want: what should stand there ("text", "number", "list", "object", "true or false")
  | "scene.nan" // where: NaN, infinite, or beyond 1e60
  | "scene.range" // where; got; want: e.g. "> 0"
  | "scene.count" // where; got: how many there are; want: how many there should be
  | "scene.mask"; // where; got: a kind of mask that does not exist

export interface Fault<Code = FaultCode> {
  code: Code;
  where?: string;
  got?: string | number;
  want?: string | number;
  low?: number;
  high?: number;
}

/** Either a value or a fault, never both: `if (r.fault) ... else r.value`. */
export type Result<T, Code = FaultCode> = { value: T; fault?: undefined } | { fault: Fault<Code>; value?: undefined };
