import { toCsv } from "../words/csv";
import type { Model } from "./model";

const save = (name: string, part: BlobPart, type: string): void => {
  const url = URL.createObjectURL(new Blob([part], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "mirada-" + name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1e4);
};

const escape = (text: string): string => text.replace(/[&<"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The picture as it stands on the page, in its colours, as a document of its own: arcs, words, percentages, columns and
 *  the sentence under them. */
export const drawing = (m: Model): { text: string; width: number; height: number } => {
  const root = document.getElementById(m.id)!;
  const place = root.querySelector(".pic")!.getBoundingClientRect();
  const scale = m.box.width / place.width;
  const colours = getComputedStyle(root);
  const paint = (text: string) => text.replace(/var\((--[\w-]+)\)/g, (_, name) => colours.getPropertyValue(name));
  /** Each text of the page where it stands. */
  const texts = [...root.querySelectorAll(".pic bdi, .pic button span:not(.hatch)")].map((e) => {
    const [box, style] = [e.getBoundingClientRect(), getComputedStyle(e)];
    const size = parseFloat(style.fontSize);
    const y = (box.top + box.height / 2 - place.top) * scale + size * 0.32;
    return `<text x="${(box.left + box.width / 2 - place.left) * scale}" y="${y}" text-anchor="middle" font-family="${escape(style.fontFamily)}" `
      + `font-size="${size}" font-weight="${style.fontWeight}" fill="${style.color}">${escape(e.textContent!)}</text>`;
  });
  const boxes = [...root.querySelectorAll(".pic i, .pic .on, .pic .pin")].map((e) => {
    const box = e.getBoundingClientRect();
    const line = e.classList.contains("on") ? ["--coral", 3] : e.classList.contains("pin") ? ["--key", 2] : ["--ink", box.height * scale];
    const [height, name] = [line[1] as number, line[0] as string];
    return `<rect x="${(box.left - place.left) * scale}" y="${(box.bottom - place.top) * scale - height}" width="${box.width * scale}" height="${height}" fill="${colours.getPropertyValue(name)}"/>`;
  });
  const arcs = root.querySelector(".arcs")!;
  const [pad, width, height] = [24, m.box.width, place.height * scale];
  const sentence = root.querySelector(".sum")!;
  const style = getComputedStyle(sentence);
  return {
    width: width + 2 * pad, height: height + 2 * pad + 34,
    text: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-pad} ${-pad} ${width + 2 * pad} ${height + 2 * pad + 34}">`
      + `<rect x="${-pad}" y="${-pad}" width="100%" height="100%" fill="${colours.getPropertyValue("--paper")}"/>`
      + `<g fill="none">${paint(arcs.innerHTML)}</g>${boxes.join("")}${texts.join("")}`
      + `<text y="${height + 24}" font-family="${escape(style.fontFamily)}" font-size="20" fill="${style.color}">${escape(sentence.textContent!)}</text></svg>`,
  };
};

export const saveSvg = (m: Model): void => save("arcs.svg", drawing(m).text, "image/svg+xml");

export const saveCsv = (m: Model): void => save("words.csv", toCsv(m.state, m.say.language), "text/csv;charset=utf-8");

/** Three times as many pixels as on the page, so that it can be printed. */
export const savePng = async (m: Model): Promise<void> => {
  const { text, width, height } = drawing(m);
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
