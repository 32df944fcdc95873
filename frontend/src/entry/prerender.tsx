import type { Language } from "../scene/percent";
import type { Child } from "../views/jsx";
import { Reading } from "../views/reading";
import { markup } from "./markup";

/** The markup that stands in the page before its script runs. */
export const prerender = (language: Language): string => markup((<Reading language={language} />) as unknown as Child);
