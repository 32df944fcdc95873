import type { Language } from "../scene/percent";

/** Tells how wide the column with the picture is, now and whenever that changes: in pixels as they are drawn. */
export const followWidth = (root: Element, tell: (width: number) => void): void => {
  const place = root.querySelector<HTMLElement>(".wide-part")!;
  const measure = () => {
    const zoom = place.getBoundingClientRect().width / place.offsetWidth || 1;
    const width = Math.floor(place.getBoundingClientRect().width / zoom);
    if (width) tell(width);
  };
  measure();
  new ResizeObserver(measure).observe(place);
};

/** Language, title and scroll bars of the document. */
export const dress = (language: Language, theme: "light" | "dark" | null, title: string): void => {
  const page = document.documentElement;
  page.lang = language;
  page.style.colorScheme = theme ?? "";
  document.title = title + " · Mirada";
};
