import type { Language } from "../scene/percent";
import type { Child } from "../views/jsx";
import { TrainReading } from "../views/train/reading";
import { markup } from "./markup";

/** The markup that stands in the Train page before its script runs. */
export const prerender = (language: Language): string => markup((<TrainReading language={language} />) as unknown as Child);
