import { mount } from "../pages/words";
import type { Language } from "../scene/percent";
import type { WordsState } from "../words/state";

interface Traits { get(name: string): unknown; set(name: string, value: unknown): void; save_changes(): void; on(event: string, job: () => void): void; off(event: string, job: () => void): void }

/** A notebook says in its own way whether it is dark. */
const theme = (): "light" | "dark" | undefined => {
  const { jpThemeLight, theme } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "true" ? "light" : "dark";
  if (document.documentElement.classList.contains("dark") || document.body.classList.contains("dark")) return "dark";
  return theme === "light" || theme === "dark" ? theme : undefined;
};

/** Calls `job` as soon as the element stands in a document: JupyterLab asks for the view first and shows it afterwards. */
const whenShown = (el: HTMLElement, job: () => void): (() => void) => {
  if (el.isConnected) {
    job();
    return () => {};
  }
  const size = new ResizeObserver(() => {
    if (!el.isConnected) return;
    size.disconnect();
    job();
  });
  size.observe(el);
  return () => size.disconnect();
};

/** What anywidget calls for each view. Style and state come from Python; what is done here goes back to it. */
const render = ({ model, el }: { model: Traits; el: HTMLElement }): (() => void) => {
  const root = document.createElement("div");
  root.dataset.host = "widget";
  el.append(root);
  // JupyterLab forbids line breaks in all that stands in a cell, and with them the Enter key that sends a form: it listens
  // at the field itself, which is why the field is not told.
  root.addEventListener("beforeinput", (e) => e.inputType === "insertLineBreak" && e.stopPropagation(), true);
  const traits = () => [model.get("state") as WordsState, model.get("language") as Language] as const;
  let page: ReturnType<typeof mount> | undefined;
  let night: ReturnType<typeof theme>;
  const open = () => {
    const [state, language] = traits();
    night = theme();
    page = mount(root, {
      host: "widget", theme: night, state, language,
      onState: (...now) => {
        if (JSON.stringify(now) === JSON.stringify(traits())) return;
        model.set("state", now[0]);
        model.set("language", now[1]);
        model.save_changes();
      },
    });
  };
  const unwait = whenShown(el, open);
  // The notebook changes its theme while the page stands in it: the page starts anew in the other one.
  const dress = new MutationObserver(() => {
    if (!page || theme() === night) return;
    page.destroy();
    open();
  });
  for (const part of [document.documentElement, document.body]) dress.observe(part, { attributes: true });
  const take = () => page?.set(...traits());
  const events = ["change:state", "change:language"];
  for (const event of events) model.on(event, take);
  return () => {
    for (const event of events) model.off(event, take);
    unwait();
    dress.disconnect();
    page?.destroy();
  };
};

export default { render };
