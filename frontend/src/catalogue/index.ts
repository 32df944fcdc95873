import type { Language } from "../scene/percent";
import { en } from "./en";
import { es } from "./es";
import { tasksEn } from "./tasks.en";
import { tasksEs } from "./tasks.es";

// The keys of English are the keys of every language: what is missing, or too much, is a type error there.
/** What the build packs; no sentence has a "|" in it. */
export const texts: Record<Language, Record<string, string>> = { es: { ...es, ...tasksEs }, en: { ...en, ...tasksEn } };

/** The template of a sentence. Throws where there is none: a key is written by us, never by a person. */
export const catalogue = (key: string, language: Language): string => {
  const text = texts[language][key];
  if (text === undefined) throw new Error("no text for " + key);
  return text;
};
