import type { Language } from "../scene/percent";

/** The names of the pages, on the lab's pages alone. */
export const pages: Record<Language, Record<string, string>> = {
  es: { "page.words": "Palabras", "page.train": "Entrenar", "page.images": "Imágenes" },
  en: { "page.words": "Words", "page.train": "Train", "page.images": "Images" },
};
