import type { Language } from "../scene/percent";
import type { WordsState } from "./state";

/** Every number on the page, one line for each pair of words; RFC 4180 (commas, CRLF), starting with a byte order mark. */
export const toCsv = (_state: WordsState, _language: Language): string => "";
