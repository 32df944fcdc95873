import { Images } from "../pages/images";
import { wished } from "../pages/language";

/** The place of the document that is marked for this page gets it, in place of what was drawn beforehand. */
const root = document.querySelector<HTMLElement>('[data-mirada="images"]')!;
new Images(root, { language: wished(root.dataset), token: root.dataset.token });
