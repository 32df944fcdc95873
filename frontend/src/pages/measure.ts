import type { Box } from "../views/model";

const LARGEST = 48;
const SMALLEST = 18;
const GAP = 0.42; // between words, in em
const TOUCH = 44; // the least width of a word's button

/** Fits the sentence into the width it has, and says where its words and the planes came to stand. Lengths are those of
 *  the page before it is enlarged for large screens. */
export const measure = (root: HTMLElement): Box => {
  const find = (selector: string) => root.querySelector<HTMLElement>(selector)!;
  const picture = find(".pic");
  const zoom = picture.getBoundingClientRect().width / picture.offsetWidth || 1;
  const widthOf = (e: HTMLElement) => e.getBoundingClientRect().width / zoom;
  const width = widthOf(picture);
  const down = width < 536;
  picture.classList.toggle("down", down);
  const words = [...root.querySelectorAll<HTMLElement>(".pic .w")];
  const set = (name: string, size: number) => picture.style.setProperty(name, size + "px");
  set("--size", LARGEST);
  const natural = words.map((w) => (w.lastElementChild as HTMLElement).scrollWidth);
  /** What is left for each gap. */
  const gap = (size: number) =>
    (width - natural.reduce((sum, w) => sum + Math.max(TOUCH, (w / LARGEST) * size), 0)) / (words.length - 1);
  let size = LARGEST;
  while (!down && size > SMALLEST && gap(size) < GAP * size) size--;
  set("--size", size);
  set("--gap", Math.max(4, Math.min(gap(size), size)));
  const edge = picture.getBoundingClientRect();
  const round = (x: number) => Math.round(x * 10) / 10;
  const centres = words.map((w) => {
    const r = w.getBoundingClientRect();
    return round((down ? (r.top + r.bottom) / 2 - edge.top : (r.left + r.right) / 2 - edge.left) / zoom);
  });
  const plane = (selector: string) => Math.round(widthOf(find(selector))) || 320;
  return { width: round(width), down, size, centres, keys: plane(".cmp .plane"), values: plane(".val .plane") };
};
