import type { Language } from "../scene/percent";
import { texts as words } from "./index";
import { pages } from "./pages";

/** What the Words page says where there are other pages beside it. */
export const texts: Record<Language, Record<string, string>> = {
  es: { ...words.es, ...pages.es }, en: { ...words.en, ...pages.en },
};
