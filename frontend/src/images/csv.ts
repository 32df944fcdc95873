import type { Language } from "../scene/percent";
import type { Table } from "./gaze";

const HEADER: Record<Language, string> = { es: "quién,a quién,fila,columna,peso", en: "who,whom,row,column,weight" };

/** Every weight of a table at full precision, one line for each pair; row and column of a patch that is looked at, empty
 *  for [CLS]. RFC 4180, with a byte order mark, so that spreadsheets read the accents. */
export const toCsv = (table: Table, tokens: string[], columns: number, language: Language): string => {
  const first = +(tokens[0] === "[CLS]");
  const name = (token: number) => (token < first ? "[CLS]" : String(token - first));
  const place = (token: number) => (token < first ? "," : [Math.floor((token - first) / columns), (token - first) % columns].join());
  const lines = table.flatMap((row, i) => row.map((w, j) => [name(i), name(j), place(j), w].join()));
  return "\ufeff" + [HEADER[language], ...lines].join("\r\n") + "\r\n";
};
