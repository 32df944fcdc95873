import type { LabelOut, Size } from "../scene/labels";
import { emOf } from "./widths";

/** A word beside its point, and what it is; short enough for a plane. */
export interface Label { before?: string; text: string; after?: string; role: string }

const short = (text: string): string => {
  const signs = [...text];
  return signs.length > 14 ? signs.slice(0, 13).join("") + "…" : text;
};

export const sizeOf = ({ before = "", text, after = "" }: Label, size: number): Size =>
  [emOf(short(text)) * size + emOf(before + after) * (size - 3) + 6, size + 3];

/** Centred on the place that was found for it, with a paper outline so that lines may pass behind. */
export const LabelText = ({ label: { before, text, after, role }, place, size }: { label: Label; place: LabelOut; size: number }) => (
  <text x={px(place.x)} y={px(place.y + 0.3 * size)} class={role || undefined}>
    {before && <tspan class="sans">{before + " "}</tspan>}{short(text)}{after && <tspan class="sans">{(text && " ") + after}</tspan>}
  </text>
);

/** Pixels as they stand in a drawing. */
export const px = (x: number): number => +x.toFixed(1);

/** A drawing whose parts have names of their own is not there for a screen reader; one without parts has a name. */
export const drawnAs = (alt?: string) => (alt ? ({ role: "img", "aria-label": alt } as const) : ({ "aria-hidden": true } as const));
