import { FULL, SIDE, type Point } from "../../images/strokes";
import type { Say } from "../say";
import { Cells } from "../train/cells";
import { tableOfCells } from "./shot";

interface Props {
  say: Say;
  cells: number[];
  strokes: Point[][];
  /** The pad's side, in pixels of the page. */
  side: number;
  /** The cell that the keys are at. */
  at: number;
  /** From what they are then: a line grows quicker than it is drawn. */
  onStrokes(next: (strokes: Point[][]) => Point[][]): void;
  onCells(next: (cells: number[]) => number[]): void;
  onAt(at: number): void;
}

const STEPS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Where a digit is drawn: with what points, in lines; with keys, cell by cell. Lengths of strokes are parts of its side. */
export const Pad = ({ say, cells, strokes, side, at, onStrokes, onCells, onAt }: Props) => {
  const point = (e: PointerEvent & { currentTarget: HTMLElement }): Point => {
    const box = e.currentTarget.getBoundingClientRect();
    return [(e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height].map((x) => Math.min(1, Math.max(0, +x.toFixed(3)))) as Point;
  };
  const keys = (e: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const step = STEPS[e.key];
    if (!step || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const from = [...e.currentTarget.children].indexOf(e.target as Element);
    const [x, y] = [(from % SIDE) + step[0], Math.floor(from / SIDE) + step[1]];
    if (x < 0 || y < 0 || x >= SIDE || y >= SIDE) return;
    onAt(y * SIDE + x);
    (e.currentTarget.children[y * SIDE + x] as HTMLElement).focus();
  };
  return (
    <section class="pad">
      <div class="head"><h2>{say.rich("pad")}</h2><button type="button" class="btn" onClick={() => onCells((all) => all.map(() => 0))}>{say.rich("pad.clear")}</button></div>
      <p class="hint">{say.rich("pad.hint")} {say.rich("pad.keys")}</p>
      <div class="paper-of" style={{ width: side + "px", height: side + "px" }}
        onPointerDown={(e) => {
          if (e.button || !e.isPrimary) return; // a second finger, or the hand, draws nothing
          e.preventDefault();
          e.currentTarget.setPointerCapture(e.pointerId);
          const first = point(e);
          onStrokes((all) => [...all, [first]]);
        }}
        onPointerMove={(e) => {
          if (!e.currentTarget.hasPointerCapture(e.pointerId)) return;
          const [x, y] = point(e);
          onStrokes((all) => {
            const last = all.at(-1) ?? [[x, y]];
            return Math.hypot(x - last.at(-1)![0], y - last.at(-1)![1]) > 0.012 ? [...all.slice(0, -1), [...last, [x, y]]] : all;
          });
        }}>
        <svg width={side} height={side} viewBox={`0 0 ${SIDE} ${SIDE}`} aria-hidden="true">
          {!strokes.length && <Cells table={tableOfCells(cells)} />}
          <path class="cut" d={Array.from({ length: SIDE + 1 }, (_, i) => `M${i} 0V${SIDE}M0 ${i}H${SIDE}`).join("")} />
          {strokes.map((s) => <path class="pen" d={s.map(([x, y], i) => `${i ? "L" : "M"}${+(SIDE * x).toFixed(2)} ${+(SIDE * y).toFixed(2)}`).join("") + (s.length < 2 ? "h0.01" : "")} />)}
        </svg>
        <div class="grid-of" role="group" aria-label={say.plain("pad.grid")} onKeyDown={keys}>
          {cells.map((ink, i) => (
            <button type="button" key={"i" + i} tabIndex={i === at ? 0 : -1} aria-pressed={ink > 0} aria-label={say.plain("pad.cell", { r: String(Math.floor(i / SIDE)), c: String(i % SIDE) })}
              onFocus={() => i !== at && onAt(i)}
              onClick={(e) => !e.detail && onCells((all) => all.map((x, j) => (j === i ? (x ? 0 : FULL) : x)))} />
          ))}
        </div>
      </div>
    </section>
  );
};
