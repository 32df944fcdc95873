import type { Language } from "../scene/percent";
import { dot, look } from "../scene/scene";
import { sceneOf, type WordsState } from "./state";

const HEADER: Record<Language, string> = {
  es: "posición de quien mira (desde 0),quien mira,posición de a quién mira (desde 0),a quién mira,consulta 1,consulta 2,clave 1,clave 2,"
    + "valor 1,valor 2,temperatura,producto,puntuación,tapada (1: sí),peso,lo que se lleva quien mira 1,lo que se lleva quien mira 2",
  en: "position of who looks (from 0),who looks,position of who is looked at (from 0),who is looked at,query 1,query 2,key 1,key 2,"
    + "value 1,value 2,temperature,product,score,masked (1: yes),weight,what who looks takes 1,what who looks takes 2",
};

/** A word as a cell. A spreadsheet would run what begins like a formula: an apostrophe before it makes it text. */
const cell = (word: string): string => {
  const safe = /^[=+\-@＝＋－＠\t\r]/.test(word) ? "'" + word : word;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** Every number on the page at full precision, one line for each pair of words; RFC 4180 (commas, decimal points, CRLF),
 *  starting with a byte order mark, so that spreadsheets read the accents. */
export const toCsv = (state: WordsState, language: Language): string => {
  const scene = sceneOf(state);
  const lines = state.words.flatMap((who, i) => {
    const { scores, weights, allowed, output } = look(scene, i);
    return state.words.map((whom, j) => [
      i, cell(who), j, cell(whom), ...state.query[i], ...state.key[j], ...state.value[j], state.temperature,
      dot(state.query[i], state.key[j]), scores[j], allowed[j] ? 0 : 1, weights[j], ...output,
    ].join());
  });
  return "\ufeff" + [HEADER[language], ...lines].join("\r\n") + "\r\n";
};
