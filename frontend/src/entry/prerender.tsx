import { renderToStaticMarkup } from "preact-render-to-string";
import type { Language } from "../scene/percent";
import { Reading } from "../views/reading";

/** The markup that stands in the page before its script runs. */
export const prerender = (language: Language): string => renderToStaticMarkup(<Reading language={language} />);
