/** Weight as ink: 0 is paper, 1 is ink, linear in between (OKLab), in both themes. */

/** For CSS and SVG; follows the theme through the page's custom properties --ink and --paper. */
export const inkMix = (weight: number): string =>
  `color-mix(in oklab,var(--ink) ${+(100 * weight).toFixed(1)}%,var(--paper))`;

const LIGHT = "FCFAF5 E3E1DC CBC8C3 B3B0AB 9C9993 86827C 706C66 5B5651 47423D 332E29 211C17";
const DARK = "171411 292521 3B3733 4F4B45 645F59 79746D 8F8A82 A6A097 BEB7AD D6CFC4 EEE7DB";

/** For a canvas, which knows no color-mix: the same colours from the table, straight lines between its steps. */
export const inkHex = (weight: number, dark: boolean): string => {
  const table = (dark ? DARK : LIGHT).split(" ");
  const at = Math.min(Math.max(weight, 0), 1) * 10;
  const i = Math.min(Math.floor(at), 9);
  const channel = (c: number) => {
    const [a, b] = [table[i], table[i + 1]].map((hex) => parseInt(hex.slice(c, c + 2), 16));
    return Math.round(a + (b - a) * (at - i)).toString(16).padStart(2, "0");
  };
  return "#" + channel(0) + channel(2) + channel(4);
};

/** A number written on that ink: pure black or white, contrast never under 4.5. */
export const onInk = (weight: number, dark: boolean): "#000" | "#fff" =>
  dark ? (weight < 0.505 ? "#fff" : "#000") : weight < 0.555 ? "#000" : "#fff";
