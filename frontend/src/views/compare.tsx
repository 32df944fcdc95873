import { placeKeys } from "../scene/labels";
import { keyFrame, perpendicular, shadow, toPixel, type Frame, type Point } from "../scene/plane";
import { numberText } from "../scene/percent";
import { Handle } from "./handle";
import { drawnAs, LabelText, px, sizeOf, type Label } from "./labels";
import type { Model } from "./model";

const SIZE = 18;
const line = (a: Point, b: Point): string => "M" + a.map(px) + "L" + b.map(px);

const Axes = ({ frame }: { frame: Frame }) => {
  const at = (u: number) => toPixel(frame, [u, u]).map(px);
  const [x, y] = at(0);
  const [left, right] = [at(-2)[0], at(2)[0]];
  return (
    <g class="axis">
      <path d={`M0 ${y}H${px(frame.width)}M${x} 0V${px(frame.height)}`} />
      {/* A dot wherever two whole numbers meet: dashes of no length with round ends. */}
      <path class="dots" stroke-dasharray={"0 " + (right - left) / 4} d={[-2, -1, 1, 2].map((u) => `M${left} ${at(u)[1]}H${right + 1}`).join("")} />
      {[1, 2].map((u) => [<text x={at(u)[0]} y={y + 17}>{u}</text>, <text x={x - 12} y={at(u)[1] + 4}>{u}</text>])}
    </g>
  );
};

/** An arrow of 4 px with a head of 16. */
const Arrow = ({ from, to }: { from: Point; to: Point }) => {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const long = Math.hypot(dx, dy);
  if (!long) return <circle cx={px(to[0])} cy={px(to[1])} r="4" class="fill" />;
  const head = Math.min(16, long);
  const [ux, uy] = [dx / long, dy / long];
  const neck: Point = [to[0] - ux * head, to[1] - uy * head];
  const wing = (side: number): string => "L" + [neck[0] - side * uy * head * 0.42, neck[1] + side * ux * head * 0.42].map(px);
  return (
    <g>
      <path d={line(from, neck)} stroke="var(--coral)" stroke-width="4" />
      <path d={"M" + to.map(px) + wing(1) + wing(-1) + "z"} class="fill" />
    </g>
  );
};

/** The chosen word's query as an arrow, all keys as points, and the perpendicular from the key whose sum is shown. */
export const Compare = ({ m, alt }: { m: Model; alt?: string }) => {
  const { state, row, pinned, say, look } = m;
  const frame = keyFrame(m.box.keys);
  const query = state.query[row];
  const tip = toPixel(frame, query);
  const centre = toPixel(frame, [0, 0]);
  const points = state.key.map((k) => toPixel(frame, k));
  const drop = pinned < 0 ? null : perpendicular(frame, query, state.key[pinned]);
  const cast = pinned < 0 ? null : shadow(query, state.key[pinned]);
  const own: Label = { text: "", after: say.plain("query.label"), role: "c" };
  const labels = state.words.map((text, i): Label =>
    ({ before: i === pinned ? say.plain("key.label") : "", text, role: look.allowed[i] ? "k" : "off" }));
  const places = placeKeys(frame, query, state.key, pinned, sizeOf(own, SIZE), labels.map((l) => sizeOf(l, SIZE)));
  return (
    <section class="cmp">
      <div class="head"><h2>{say.rich("compare")}</h2>{m.live && <span class="hint">{say.rich("compare.hint")}</span>}</div>
      <div class="plane">
        {m.live && [...state.key.map((_, i) => <Handle key={i} m={m} which="key" index={i} frame={frame} />),
          <Handle key={"q" + row} m={m} which="query" index={row} frame={frame} />]}
        <svg viewBox={`0 0 ${frame.width} ${frame.height}`} {...drawnAs(alt)}>
          <Axes frame={frame} />
          {drop && <path d={line(...drop.line)} class="ray" />}
          {drop && <g stroke="var(--key)"><path d={line(...drop.drop) + drop.angle} stroke-width="1.5" /><path d={line(...drop.beside)} stroke-width="3.5" /></g>}
          <Arrow from={centre} to={tip} />
          {points.map(([x, y], i) => <circle key={i} cx={px(x)} cy={px(y)} r={m.held?.which === "key" && m.held.index === i ? 8 : 6.5} class={look.allowed[i] ? "dot" : "dot off"} />)}
          {labels.map((label, i) => <LabelText label={label} place={places.keys[i]} size={SIZE} />)}
          <LabelText label={own} place={places.query} size={SIZE} />
        </svg>
      </div>
      <p class="cap">
        {say.rich("compare.text")}{" "}
        {cast ? say.rich("compare.shadow", {
          shadow: { text: say.plain("shadow"), role: "k" }, query: { text: say.plain("query"), role: "c" },
          s: numberText(cast.length, say.language), q: numberText(cast.queryLength, say.language),
        }) : say.rich("compare.zero")}
        {cast && cast.length < 0 && [" ", say.rich("compare.back")]}
      </p>
    </section>
  );
};
