import type { Language } from "../scene/percent";
import type { Child } from "../views/jsx";
import { ImagesReading } from "../views/images/reading";
import { markup } from "./markup";

/** The markup that stands in the Images page before its script runs. */
export const prerender = (language: Language): string => markup((<ImagesReading language={language} />) as unknown as Child);
