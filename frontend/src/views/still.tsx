import { arcs, type Arc } from "../scene/arcs";
import { px } from "./labels";
import type { Model } from "./model";
import { emOf } from "./widths";

// How much of the way is coral: about 150 px of it, at most 62 %.
const FADES = [0.62, 0.4, 0.28];

/** Gradients for every arc of the document: coral at its foot (on its left, or on its right), ink from there on. */
export const Gradients = () => (
  <svg class="vh" aria-hidden="true">
    {FADES.map((at, i) => [
      <linearGradient id={"l" + i} x2={at} href={i ? "#l0" : undefined}>{!i && [<stop stop-color="var(--coral)" />, <stop offset="1" stop-color="var(--ink)" />]}</linearGradient>,
      <linearGradient id={"r" + i} x1="1" x2={1 - at} href="#l0" />,
    ])}
  </svg>
);

interface Props { m: Model; id: string; width: number; small?: boolean; /** The words, where another picture has them. */ words?: string }

/** The picture drawn beforehand, as one SVG that any width can scale: words in slots that fit them in any serif, so that
 *  arcs meet words although nothing was measured. The words' feet are at y = 0. */
export const Still = ({ m, id, width, small = false, words }: Props) => {
  const { state, look, say, pinned, row } = m;
  const ems = state.words.map(emOf);
  const size = Math.min(small ? 20 : 48, width / (ems.reduce((a, b) => a + b, 0) + 0.42 * (ems.length - 1)));
  let x = 0;
  const centres = ems.map((em) => {
    const middle = Math.round(x + (em * size) / 2);
    x += (em + 0.42) * size;
    return middle;
  });
  const [depth, base, under, bars, reach] = small ? [62, 21, 26, 30, 34] : [208, 51, 64, 100, 62];
  const drawn = arcs({ centres, weights: look.weights, allowed: look.allowed, chosen: row, size: small ? "small" : "wide", depth });
  // Arcs that fade alike share a gradient (left or right, near or far) and, where they are as thin as can be, a path.
  const groups: Record<string, Record<number, string>> = {};
  for (const arc of drawn) {
    const far = FADES.filter((at) => arc.gradient.at <= at + 0.06).length - 1;
    const name = (arc.to < arc.from ? "r" : "l") + far;
    const group = (groups[name] ??= {});
    group[px(arc.width)] = (group[px(arc.width)] ?? "") + lifted(arc, depth);
  }
  const line = (i: number, stroke: string, w: number) =>
    <path d={`M${Math.round(centres[i] - (ems[i] * size) / 2)} ${under}h${Math.round(ems[i] * size)}`} stroke-width={w} stroke={stroke} />;
  return (
    <svg class="still" viewBox={`0 -${depth} ${width} ${depth + bars + (small ? reach : 74)}`}>
      {Object.entries(groups).map(([g, paths]) => (
        <g stroke={`url(#${g})`}>{Object.entries(paths).map(([w, d]) => <path d={d} stroke-width={w === "1" ? undefined : w} />)}</g>
      ))}
      {words ? <use href={"#" + words} fill="var(--ink)" /> : (
        <g id={small ? id + "w" : undefined} text-anchor={small ? "middle" : undefined} font-size={Math.round(size)} transform={`translate(0 ${base})`}>
          {state.words.map((w, i) => <text x={centres[i]} class={i === row ? "c" : undefined} fill={small && i === row ? "var(--coral-text)" : undefined}>{w}</text>)}
        </g>
      )}
      {line(row, "var(--coral)", 3)}
      {!small && [line(pinned, "var(--key)", 2),
        <g class="sans" transform={`translate(0 ${under + 24})`}>
          {state.words.map((_, i) => <text x={centres[i]} class={i === pinned ? "top" : undefined}>{say.percent(m.parts[i])}</text>)}
        </g>]}
      <path class="bars" stroke-width={small ? 9 : 18} d={centres.map((c, i) => `M${c} ${bars}v${Math.max(1, px(reach * look.weights[i]))}`).join("")} />
    </svg>
  );
};

/** The arc's path with its feet at 0 and as few digits as the eye needs: those on the chosen word stand close. */
const lifted = ({ path }: Arc, depth: number): string =>
  path.replace(/([ML])([\d.]+) ([\d.]+)/g, (_, c: string, x: string, y: string) => `${c}${x} ${px(+y - depth)}`)
    .replace(/A([\d.]+) ([\d.]+) (0 0 .) ([\d.]+) ([\d.]+)/, (_, rx: number, ry: number, flags: string, x: string, y: string) => `A${Math.round(rx)} ${Math.round(ry)} ${flags} ${px(+x)} ${px(+y - depth)}`);
