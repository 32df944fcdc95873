import { save } from "../export";

/** The picture with what is laid over it, in its colours, as a document of its own. root: the page. */
export const drawing = (root: Element): { text: string; width: number; height: number } => {
  const svg = root.querySelector<SVGElement>(".gaze")!;
  const [width, height] = ["width", "height"].map((name) => +svg.getAttribute(name)!);
  // A colour of ours stands for two, by day and by night: the page knows which.
  const probe = root.appendChild(document.createElement("i"));
  const plain = (text: string): string => {
    probe.style.color = text;
    return getComputedStyle(probe).color;
  };
  const copy = svg.cloneNode(true) as SVGElement;
  const [from, to] = [svg, copy].map((each) => [...each.querySelectorAll("*")]);
  // What the page's style says of a part is written into it: alone, it has no style.
  to.forEach((part, i) => {
    const style = getComputedStyle(from[i]);
    const names = part.localName === "text" ? ["fill", "stroke", "stroke-width", "paint-order", "text-anchor", "font-family", "font-size", "font-weight"] : ["fill", "stroke", "stroke-width", "stroke-opacity"];
    if (["text", "path", "rect"].includes(part.localName)) for (const name of names) part.setAttribute(name, style.getPropertyValue(name));
    if (part.localName === "image") part.setAttribute("image-rendering", style.imageRendering);
    for (const name of ["class", "color", ...(part.localName === "g" ? ["fill"] : [])]) part.removeAttribute(name);
  });
  for (const name of ["class", "role", "aria-label"]) copy.removeAttribute(name);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width, height, fill: plain("var(--paper)") })) paper.setAttribute(name, String(value));
  copy.prepend(paper);
  probe.remove();
  return { width, height, text: new XMLSerializer().serializeToString(copy) };
};

export const saveSvg = (root: Element): void => save("patches.svg", drawing(root).text, "image/svg+xml");

/** Three times as many pixels as on the page, so that it can be printed. */
export const savePng = async (root: Element): Promise<void> => {
  const { text, width, height } = drawing(root);
  const image = new Image(width * 3, height * 3);
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * 3, height * 3];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  if (!blob) throw new Error("the canvas gave no picture");
  save("patches.png", blob, "image/png");
};

export const saveCsv = (text: string): void => save("weights.csv", text, "text/csv;charset=utf-8");
