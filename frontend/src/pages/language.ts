import type { Language } from "../scene/percent";
import { recall, remember } from "./memory";

/** The language of a page: the one asked for in the address, else the one chosen last, else that of the document. Whoever
 *  starts the lab with a language chooses it: `run` names that start, so that what is chosen in the page afterwards stays. */
export const wished = ({ language, run }: DOMStringMap): Language => {
  if (run && run !== recall("run")) {
    remember("run", run);
    remember("language", run.slice(0, 2));
  }
  const known = (x?: string | null): x is Language => x === "es" || x === "en";
  const asked = new URLSearchParams(location.search).get("lang");
  return [asked, recall("language"), language, navigator.language.slice(0, 2)].find(known) ?? "en";
};
