import { wished } from "../pages/language";
import { mount, type Options } from "../pages/words";

/** Every place of the document that is marked for this page gets it, in place of what was drawn beforehand. */
for (const root of document.querySelectorAll<HTMLElement>('[data-mirada="words"]')) {
  const { host, token } = root.dataset;
  const state = document.querySelector('[data-mirada="state"]')?.textContent;
  mount(root, { language: wished(root.dataset), host: (host ?? "file") as Options["host"], token, state: state ? JSON.parse(state) : undefined });
}
