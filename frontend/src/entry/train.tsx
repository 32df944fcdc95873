import { wished } from "../pages/language";
import { Train } from "../pages/train";

/** The place of the document that is marked for this page gets it, in place of what was drawn beforehand. */
const root = document.querySelector<HTMLElement>('[data-mirada="train"]')!;
new Train(root, { language: wished(root.dataset), token: root.dataset.token });
