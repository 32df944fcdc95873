import { clearness, firstPatch, gazed, most, tokenOf, type Table } from "../../images/gaze";
import { SIDE, FULL } from "../../images/strokes";
import { shareText } from "../../train/numbers";
import { px } from "../labels";
import type { Say } from "../say";
import { Cells } from "../train/cells";

const VEIL = 0.94; // of paper over what is not looked at: one still knows what is there

/** A picture as it is drawn: a PNG in base64, or the cells of a digit; cut into a grid. */
export interface Shot { png: string | null; cells: number[]; rows: number; columns: number }

export const tableOfCells = (cells: number[]): number[][] =>
  Array.from({ length: SIDE }, (_, y) => cells.slice(y * SIDE, (y + 1) * SIDE).map((x) => x / FULL));

/** The picture alone, as large as its box. */
export const Base = ({ shot: { png, cells }, width, height }: { shot: Shot; width: number; height: number }) =>
  png !== null
    ? <image href={"data:image/png;base64," + png} width={px(width)} height={px(height)} preserveAspectRatio="none" />
    : <g transform={`scale(${width / SIDE} ${height / SIDE})`}><Cells table={tableOfCells(cells)} /></g>;

interface Props {
  say: Say;
  id: string;
  shot: Shot;
  /** In pixels of the page. */
  width: number;
  alt: string;
  tokens: string[] | null;
  table: Table | null;
  /** Who looks: a patch, or -1; and whom the mouse rests on, if it does. */
  query: number;
  hovered: number | null;
  onChoose(query: number): void;
  onHover(query: number | null): void;
}

/** Paper over each patch, the thicker the less it is looked at: what is looked at most is seen clearly. */
const Veil = ({ clear, place, side }: { clear: number[]; place(at: number): [number, number]; side: number }) => (
  <g fill="var(--paper)">
    {clear.map((c, i) => {
      const [x, y] = place(i);
      return <rect x={px(x)} y={px(y)} width={px(side)} height={px(side)} fill-opacity={+(VEIL * (1 - c)).toFixed(3)} />;
    })}
  </g>
);

/** The picture with its numbered patches, and over it where one of them looks. Each patch is a radio button. */
export const Picture = (props: Props) => {
  const { say, id, shot, width, alt, tokens, table, query, hovered, onChoose, onHover } = props;
  const { rows, columns } = shot;
  const side = width / columns;
  const height = side * rows;
  const place = (at: number): [number, number] => [(at % columns) * side, Math.floor(at / columns) * side];
  const seen = hovered ?? query;
  const gaze = table && tokens && gazed(table, tokens, seen);
  const asker = tokens ? tokenOf(tokens, seen) - firstPatch(tokens) : seen;
  const first = gaze && most(gaze, 1)[0].at;
  const veil = gaze && clearness(gaze.patches, asker);
  const share = (w: number | undefined) => (w === undefined ? "" : shareText(w, say.language));
  const frame = (at: number, colour: string, key: string) => {
    const [x, y] = place(at);
    const box = { x: px(x + 1), y: px(y + 1), width: px(side - 2), height: px(side - 2), fill: "none" };
    return <g key={key}><rect {...box} stroke="var(--paper)" stroke-width="6" /><rect {...box} stroke={colour} stroke-width="3" /></g>;
  };
  const small = side < 44;
  const lines = Array.from({ length: columns + 1 }, (_, j) => `M${px(j * side)} 0V${px(height)}`).join("") + Array.from({ length: rows + 1 }, (_, i) => `M0 ${px(i * side)}H${px(width)}`).join("");
  /** Arrows go where they point; above the first row stands [CLS]. */
  const keys = (e: KeyboardEvent) => {
    const cls = !!gaze && gaze.cls !== null;
    const from = +(e.target as HTMLInputElement).value; // where the keys are: what was drawn may be a frame behind
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, ArrowUp: from < columns ? -1 : from - columns, ArrowDown: from < 0 ? 0 : from + columns, Home: cls ? -1 : 0, End: rows * columns - 1 }[e.key];
    if (to === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    if (to < (cls ? -1 : 0) || to >= rows * columns) return;
    onChoose(to);
    (e.currentTarget as HTMLElement).querySelector<HTMLInputElement>(`[value="${to}"]`)?.focus();
  };
  const radio = (at: number, name: string) =>
    <input class="vh" type="radio" name={id + "patch"} value={at} checked={at === query} aria-label={name} onChange={() => onChoose(at)} />;
  const mouse = (at: number) => ({
    onPointerEnter: (e: PointerEvent) => e.pointerType === "mouse" && onHover(at),
    onPointerLeave: (e: PointerEvent) => e.pointerType === "mouse" && onHover(null),
  });
  return (
    <fieldset class="shot" onKeyDown={keys}>
      <legend class="vh">{say.plain("picture")}</legend>
      {!gaze && <div class="cls" /> /* so that the picture stays where it is when somebody looks */}
      {gaze && gaze.cls !== null && (
        <label class={"cls sans" + (asker < 0 ? " on" : first === -1 ? " pin" : "")} {...mouse(-1)}>
          {radio(-1, say.plain("cls.label", { p: share(gaze.cls) }))}
          <b>{say.rich("cls")}</b>
          <i style={{ "--v": 100 * gaze.cls }} /><span>{share(gaze.cls)}</span><small>{say.rich("cls.hint")}</small>
        </label>
      )}
      <div class="frame" style={{ width: px(width) + "px", height: px(height) + "px" }}>
        <svg class={shot.png === null ? "gaze cells-of" : "gaze"} role="img" aria-label={alt} width={px(width)} height={px(height)} viewBox={`0 0 ${px(width)} ${px(height)}`}>
          <Base shot={shot} width={width} height={height} />
          {veil && Veil({ clear: veil.clear, place, side })}
          <path class="cut" d={lines} />
          <g class="numbers-of" font-size={small ? 9 : 12}>
            {Array.from({ length: rows * columns }, (_, i) => {
              const [x, y] = place(i);
              return <text class={i === asker ? "c" : i === first ? "k" : undefined} x={px(x + (small ? 3 : 6))} y={px(y + (small ? 10 : 16))}>{i}</text>;
            })}
            {gaze && shot.png === null && !small && gaze.patches.map((w, i) => {
              const [x, y] = place(i);
              return <text class="share" x={px(x + side - 6)} y={px(y + side - 7)}>{share(w)}</text>;
            })}
          </g>
          {first !== null && first >= 0 && first !== asker && frame(first, "var(--key)", "first")}
          {asker >= 0 && frame(asker, "var(--coral)", "asker")}
        </svg>
        <div class="spots" style={{ "--n": columns }}>
          {Array.from({ length: rows * columns }, (_, i) => (
            <label key={"p" + i} {...mouse(i)}>{radio(i, say.plain("patch.name", { n: String(i), r: String(Math.floor(i / columns)), c: String(i % columns), p: share(gaze?.patches[i]) }))}</label>
          ))}
        </div>
      </div>
      {veil && (
        <p class="veils sans" aria-hidden="true">
          <span class="veil-key" /><span>{say.rich("veil.none", { p: share(veil.top) })}</span><span>{say.rich("veil.full")}</span>
        </p>
      )}
    </fieldset>
  );
};

/** One patch by itself, cut out of the picture. */
export const Cut = ({ shot, at, size, alt }: { shot: Shot; at: number; size: number; alt?: string }) => (
  <svg class="cutout" width={size} height={size} viewBox={`${at % shot.columns} ${Math.floor(at / shot.columns)} 1 1`} {...(alt ? { role: "img", "aria-label": alt } as const : { "aria-hidden": true } as const)}>
    <Base shot={shot} width={shot.columns} height={shot.rows} />
  </svg>
);
