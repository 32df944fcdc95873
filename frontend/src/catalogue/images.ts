import type { Language } from "../scene/percent";
import { imagesEn } from "./images.en";
import { imagesEs } from "./images.es";
import { texts as words } from "./index";
import { pages } from "./pages";

/** What the Images page says; what it shares with Words it says alike. */
export const texts: Record<Language, Record<string, string>> = {
  es: { ...words.es, ...pages.es, ...imagesEs }, en: { ...words.en, ...pages.en, ...imagesEn },
};
