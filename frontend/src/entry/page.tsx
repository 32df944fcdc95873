import { mount, type Options } from "../pages/words";
import { recall, remember } from "../pages/memory";
import type { Language } from "../scene/percent";

/** Every place of the document that is marked for this page gets it, in place of what was drawn beforehand. The language
 *  is the one asked for in the address, else the one chosen last, else that of the document. Whoever starts the lab with a
 *  language chooses it: `run` names that start, so that what is chosen in the page afterwards stays. */
for (const root of document.querySelectorAll<HTMLElement>('[data-mirada="words"]')) {
  const { language, host, token, run } = root.dataset;
  if (run && run !== recall("run")) {
    remember("run", run);
    remember("language", run.slice(0, 2));
  }
  const known = (x?: string | null): x is Language => x === "es" || x === "en";
  const asked = new URLSearchParams(location.search).get("lang");
  const wished = [asked, recall("language"), language, navigator.language.slice(0, 2)].find(known) ?? "en";
  const state = document.querySelector('[data-mirada="state"]')?.textContent;
  mount(root, { language: wished, host: (host ?? "file") as Options["host"], token, state: state ? JSON.parse(state) : undefined });
}
