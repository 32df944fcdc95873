import { toCsv } from "../words/csv";
import { px } from "./labels";
import type { Model } from "./model";

export const save = (name: string, part: BlobPart, type: string): void => {
  const url = URL.createObjectURL(new Blob([part], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "mirada-" + name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1e4);
};

const escape = (text: string): string => text.replace(/[&<"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The picture as it stands on the page, in its colours, as a document of its own: arcs, words, percentages, columns and
 *  the sentence under them. root: the page, which no id finds where it stands in a shadow. */
export const drawing = (m: Model, root: Element): { text: string; width: number; height: number } => {
  const all = (selector: string) => [...root.querySelectorAll<HTMLElement>(selector)];
  const place = root.querySelector(".pic")!.getBoundingClientRect();
  const scale = m.box.width / place.width;
  // A colour of ours stands for two, by day and by night: the page knows which.
  const probe = root.appendChild(document.createElement("i"));
  const colour = (name: string): string => {
    probe.style.color = name;
    return getComputedStyle(probe).color;
  };
  const boxOf = (e: Element) => {
    const { left, top, width, height } = e.getBoundingClientRect();
    return { x: px((left - place.left) * scale), y: px((top - place.top) * scale), w: px(width * scale), h: px(height * scale) };
  };
  const write = (e: Element, x: number, y: number, anchor: string, size?: number) => {
    const style = getComputedStyle(e);
    return `<text x="${x}" y="${y}" text-anchor="${anchor}" font-family="${escape(style.fontFamily)}" font-size="${size ?? parseFloat(style.fontSize)}" `
      + `style="font-size-adjust:${style.fontSizeAdjust}" font-weight="${style.fontWeight}" fill="${style.color}">${escape(e.textContent!)}</text>`;
  };
  const fill = (x: number, y: number, w: number, h: number, name: string) => `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${colour(name)}"/>`;
  const [pad, width] = [24, m.box.width];
  const height = px(place.height * scale);
  const sum = root.querySelector(".sum")!;
  const parts = [
    fill(-pad, -pad, width + 2 * pad, height + 2 * pad + 34, "var(--paper)"),
    `<g fill="none">${root.querySelector(".arcs")!.innerHTML.replace(/var\([^)]*\)/g, colour)}</g>`,
    ...all(".pic bdi, .pic button span:not(.hatch)").map((e) => {
      const { x, y, w, h } = boxOf(e);
      return write(e, px(x + w / 2), px(y + h / 2 + parseFloat(getComputedStyle(e).fontSize) * 0.3), "middle");
    }),
    ...all(".pic i").map(boxOf).map(({ x, y, w, h }) => fill(x, y, w, h, "var(--ink)")),
    ...all(".pic .on").map(boxOf).map(({ x, y, w, h }) => fill(x, y + h - 3, w, 3, "var(--coral)")),
    ...all(".pic .pin").map(boxOf).map(({ x, y, w, h }) => fill(x, y + h - 2, w, 2, "var(--key)")),
    ...all(".pic .hatch").map(boxOf).map(({ x, y, w, h }) =>
      `<path d="M${x} ${y}h${w}v${h}h-${w}z${[0, 6, 12].map((dx) => `M${x + dx} ${y + h}l6-${h}`).join("")}" fill="none" stroke="${colour("var(--edge)")}"/>`),
    write(sum, 0, height + 24, "start", Math.min(20, (2 * width) / sum.textContent!.length)),
  ];
  probe.remove();
  return {
    width: width + 2 * pad, height: height + 2 * pad + 34,
    text: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-pad} ${-pad} ${width + 2 * pad} ${height + 2 * pad + 34}">${parts.join("")}</svg>`,
  };
};

export const saveSvg = (m: Model, root: Element): void => save("arcs.svg", drawing(m, root).text, "image/svg+xml");

export const saveCsv = (m: Model): void => save("words.csv", toCsv(m.state, m.say.language), "text/csv;charset=utf-8");

/** Three times as many pixels as on the page, so that it can be printed. */
export const savePng = async (m: Model, root: Element): Promise<void> => {
  const { text, width, height } = drawing(m, root);
  const image = new Image(width * 3, height * 3);
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * 3, height * 3];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  if (!blob) throw new Error("the canvas gave no picture");
  save("arcs.png", blob, "image/png");
};
