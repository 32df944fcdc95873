import type { Language } from "../scene/percent";
import { texts as words } from "./index";
import { pages } from "./pages";
import { trainEn } from "./train.en";
import { trainEs } from "./train.es";

/** What the Train page says; what it shares with Words it says alike. */
export const texts: Record<Language, Record<string, string>> = {
  es: { ...words.es, ...pages.es, ...trainEs }, en: { ...words.en, ...pages.en, ...trainEn },
};
