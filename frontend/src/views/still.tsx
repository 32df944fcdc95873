import { arcs, type Arc } from "../scene/arcs";
import { px } from "./labels";
import type { Model } from "./model";
import { emOf } from "./widths";

interface Props { m: Model; id: string; width: number; small?: boolean }

/** Gradients that serve every near arc of the document: ink from 62 % of the way on. */
export const NearGradients = () => (
  <svg width="0" height="0" class="vh" aria-hidden="true">
    {[1, 0].map((from) => <Fade id={"n" + from} x1={from} x2={from ? 0.38 : 0.62} y1={0} y2={0} />)}
  </svg>
);

const Fade = (ends: Record<"x1" | "x2" | "y1" | "y2", number> & { id: string; gradientUnits?: "userSpaceOnUse" }) => (
  <linearGradient {...ends}><stop stop-color="var(--coral)" /><stop offset="1" stop-color="var(--ink)" /></linearGradient>
);

/** The picture drawn beforehand, as one SVG that any width can scale. Words stand in slots that fit them in any serif,
 *  so that arcs meet words although nothing was measured. */
export const Still = ({ m, id, width, small = false }: Props) => {
  const { state, look, say, pinned } = m;
  const ems = state.words.map(emOf);
  const size = Math.min(small ? 20 : 48, width / (ems.reduce((a, b) => a + b, 0) + 0.42 * (ems.length - 1)));
  let x = 0;
  const centres = ems.map((em) => {
    const middle = px(x + (em * size) / 2);
    x += (em + 0.42) * size;
    return middle;
  });
  const depth = small ? 62 : 208;
  const here = centres[m.row];
  const drawn = arcs({ centres, weights: look.weights, allowed: look.allowed, chosen: m.row, size: small ? "small" : "wide", depth });
  const base = depth + (small ? 21 : 51); // of the words
  const under = base + (small ? 5 : 13);
  const bars = under + (small ? 4 : 36);
  const reach = small ? 34 : 62;
  // Arcs that fade alike share a gradient: left or right, near or far.
  const groups = new globalThis.Map<string, Arc[]>();
  for (const arc of drawn) {
    const left = arc.to < arc.from;
    const name = arc.gradient.at < 0.62 ? id + (left ? "l" : "r") : left ? "n1" : "n0";
    groups.set(name, [...(groups.get(name) ?? []), arc]);
  }
  const line = (i: number, w: number) => <path d={`M${px(centres[i] - (ems[i] * size) / 2)} ${under}h${px(ems[i] * size)}`} stroke-width={w} stroke={i === m.row ? "var(--coral)" : "var(--key)"} />;
  return (
    <svg class={small ? "still small" : "still"} viewBox={`0 0 ${width} ${bars + (small ? reach : 74)}`} aria-hidden="true">
      {[...groups.keys()].filter((g) => g.startsWith(id)).map((g) => (
        <Fade id={g} gradientUnits="userSpaceOnUse" x1={here} x2={here + (g.endsWith("l") ? -150 : 150)} y1={0} y2={0} />
      ))}
      {[...groups].map(([g, list]) => (
        <g stroke={`url(#${g})`}>{list.map((a) => <path d={a.path} stroke-width={px(a.width)} />)}</g>
      ))}
      <g text-anchor="middle" font-size={px(size)}>
        {state.words.map((w, i) => <text x={centres[i]} y={base} class={i === m.row ? "c" : undefined}>{w}</text>)}
      </g>
      {pinned !== m.row && !small && line(pinned, 2)}{line(m.row, 3)}
      {!small && <g text-anchor="middle" class="sans">
        {state.words.map((_, i) => <text x={centres[i]} y={under + 24} class={i === pinned ? "top" : undefined}>{say.percent(m.parts[i])}</text>)}
      </g>}
      <path class="bars" stroke-width={small ? 9 : 18} d={centres.map((c, i) => `M${c} ${bars}v${Math.max(1, px(reach * look.weights[i]))}`).join("")} />
    </svg>
  );
};
