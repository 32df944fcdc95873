import type { Maps } from "../../train/api";
import { place, type Scale } from "../../train/curves";
import { px } from "../labels";
import type { Say } from "../say";
import { Tiny } from "./cells";

export const LEFT = 72; // where the first map, and the axis of the curves, begin
const GAP = 8;
const DROP = 30; // from the maps down to the axis of steps

interface Props {
  say: Say;
  /** The moments that are shown, and of which block. */
  shown: Maps[];
  block: number;
  heads: number;
  rows: number;
  keys: number;
  slots: number;
  width: number;
  x: Scale;
  /** The step that is chosen. */
  at: number;
  onChoose(step: number): void;
}

/** One line a head, moments in time from left to right; a thin line leads from each to its step on the axis below. */
export const MapStrip = ({ say, shown, block, heads, rows, keys, slots, width, x, at, onChoose }: Props) => {
  const column = (width - LEFT - GAP * (slots - 1)) / slots;
  const centre = (i: number) => LEFT + i * (column + GAP) + column / 2;
  const blank = Array.from({ length: rows }, () => Array<number>(keys).fill(0));
  return (
    <section aria-label={say.plain("strip")}>
      <div class="moments" style={{ "--h": heads }}>
        <div class="heads sans"><span />{Array.from({ length: heads }, (_, head) => <span>{say.rich("head", { n: head + 1 })}</span>)}</div>
        {shown.map(({ step, maps }, i) => (
          <button type="button" class="moment" key={"m" + i} aria-pressed={step === at} aria-label={say.plain("moment", { n: step })}
            onClick={() => onChoose(step)}>
            <span>{!i && say.plain("step") + " "}{step}</span>
            {maps[block].map((table) => <Tiny table={table} />)}
          </button>
        ))}
        {Array.from({ length: slots - shown.length }, (_, i) => (
          <div class="moment blank" key={"b" + i} aria-hidden="true"><span />{Array.from({ length: heads }, () => <Tiny table={blank} />)}</div>
        ))}
      </div>
      <svg class="leaders" width={width} height={DROP} aria-hidden="true">
        {shown.map(({ step }, i) => (
          <path class={step === at ? "now" : undefined} d={`M${px(centre(i))} 5V8C${px(centre(i))} 20 ${px(place(x, step))} 14 ${px(place(x, step))} ${DROP}`} />
        ))}
      </svg>
    </section>
  );
};
