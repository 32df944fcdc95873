import { placeValues } from "../scene/labels";
import { toPixel, valueFrame, type Frame, type Point } from "../scene/plane";
import { ids, type Given } from "../words/sentences";
import { lookOf, reduce } from "../words/state";
import { Handle } from "./handle";
import { drawnAs, LabelText, px, sizeOf, type Label } from "./labels";
import type { Model } from "./model";
import { shade } from "./map";
import { word } from "./say";

const SIZE = 16;

/** What the shown word would take with it in the other sentence; null where it does not stand there. */
const elsewhere = ({ state, say: { language } }: Model): Point | null => {
  if (state.sentence === "own") return null;
  const other: Given = state.sentence === "money" ? "seat" : "money";
  const id = ids(state.sentence, language)[state.chosen];
  return ids(other, language).includes(id)
    ? (lookOf(reduce(state, { type: "sentence", id: other }, language)).output as Point) : null;
};

const Axes = ({ m, frame }: { m: Model; frame: Frame }) => {
  const [x, y] = toPixel(frame, [0, 0]).map(px);
  const [left, foot] = [frame.x0 < -1 ? 0 : x, frame.y0 < -1 ? px(frame.height) : y];
  const right = px(frame.width) - 10;
  const name = (axis: number) => m.say.plain((m.state.sentence === "own" ? "axis.own." : "axis.value.") + axis);
  return (
    <g class="axis">
      <path d={`M${left} ${y}H${right}M${x} ${foot}V6` + [1, 2].map((a) => {
        const [u, v] = toPixel(frame, [a, a]).map(px);
        return `M${u} ${y - 4}v8M${x - 4} ${v}h8`;
      }).join("")} />
      <path d={`M${right} ${y - 5}l10 5l-10 5zM${x - 5} 8l5-10l5 10z`} class="end" />
      <text x={right + 10} y={y + 22} class="last">{name(0)}</text>
      <text x={x + 12} y="10" class="name">{name(1)}</text>
    </g>
  );
};

const Diamond = ({ at, dashed, live }: { at: Point; dashed?: boolean; live?: boolean }) => (
  <path d="M0-9.5L9.5 0L0 9.5L-9.5 0z" class={dashed ? "was" : "fill out"}
    {...(live ? { style: { transform: `translate(${px(at[0])}px,${px(at[1])}px)` } } : { transform: `translate(${at.map(px)})` })} />
);

/** Values as squares, inked as they are looked at, and their weighted mean: what the shown word takes with it. */
export const Values = ({ m, frame, both, alt }: { m: Model; frame?: Frame; both: boolean; alt?: string }) => {
  const { state, row, say, weights, look } = m;
  const f = frame ?? valueFrame(state.value, m.box.values);
  const points = state.value.map((v) => toPixel(f, v));
  const output = [0, 1].map((c) => weights.reduce((sum, w, j) => sum + w * state.value[j][c], 0)) as Point;
  const out = toPixel(f, look.output.length ? output : [0, 0]);
  const was = both ? elsewhere(m) : null;
  const ghost = was && toPixel(f, was);
  const aside = ghost && ghost[0] + 150 > f.width;
  const own: Label = { text: state.words[row], after: say.plain("takes"), role: "c" };
  const labels = state.words.map((text): Label => ({ text, role: "" }));
  const places = placeValues(f, output, state.value, sizeOf(own, SIZE), labels.map((l) => sizeOf(l, SIZE)));
  return (
    <section class="val">
      <div class="head"><h2>{say.rich("values")}</h2></div>
      <div class="plane">
        {m.live && points.map((_, i) => <Handle key={i} m={m} which="value" index={i} frame={f} />)}
        <svg viewBox={`0 0 ${px(f.width)} ${px(f.height)}`} {...drawnAs(alt)}>
          <Axes m={m} frame={f} />
          <g stroke="var(--edge)" stroke-width=".75">{points.map((p, i) => look.allowed[i] &&
            <path d={`M${p.map(px)}L${out.map(px)}`} stroke-width={weights[i] > 0.05 ? px(15 * weights[i]) : undefined} />)}</g>
          <g class="squares">{points.map(([x, y], i) => (
            <path class={look.allowed[i] ? (m.live ? undefined : shade(weights[i])) : "off"} d={`M${px(x - 5.5)} ${px(y - 5.5)}h11v11h-11z`}
              style={m.live ? { "--v": 100 * weights[i] } : undefined} />
          ))}</g>
          {ghost && <Diamond at={ghost} dashed />}
          <Diamond at={out} live={m.live} />
          {labels.map((label, i) => <LabelText label={label} place={places.values[i]} size={SIZE} />)}
          <LabelText label={own} place={places.output} size={SIZE} />
          {ghost && <text class={"c sans " + (aside ? "last" : "name")} x={px(ghost[0] + (aside ? -16 : 16))} y={px(ghost[1] + 5)}>{say.plain("other")}</text>}
        </svg>
      </div>
      <p class="cap">{say.rich(both && ghost ? "values.both" : "values.text", { word: word(say, state.words, row, "c i") })}</p>
    </section>
  );
};
