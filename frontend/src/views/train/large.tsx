import type { Table } from "../../train/shades";
import { px } from "../labels";
import type { Say } from "../say";
import { Cells } from "./cells";

const SIDE = 160;

interface Props { say: Say; table: Table; name: string; id: string; /** The row that is marked; −1: none. */ row: number }

const highest = (row: (number | null)[]): number => row.reduce<number>((best, w, j) => (w !== null && (best < 0 || w > row[best]!) ? j : best), -1);

/** A map with numbered rows and columns, one row marked: coral looks, blue is looked at most. */
export const Large = ({ say, table, name, id, row }: Props) => {
  const [rows, keys] = [table.length, table[0].length];
  const cell = SIDE / Math.max(rows, keys);
  const every = Math.ceil(14 / cell); // labels keep apart
  const marked = row < rows ? row : -1;
  const most = marked < 0 ? -1 : highest(table[marked]);
  const label = (i: number, on: boolean) => (i % every === 0 || on ? i : "");
  const most_ = marked < 0 || most < 0 ? "" : say.plain("map.most", { row: String(marked), key: String(most), p: say.percent(Math.round(100 * table[marked][most]!)) });
  return (
    <figure>
      <figcaption class="sans">{name}</figcaption>
      <svg class="large sans" viewBox={`-20 -20 ${px(keys * cell) + 22} ${px(rows * cell) + 22}`} role="img"
        aria-label={say.plain("map.alt", { n: name, rows: String(rows), keys: String(keys), most: most_ })}>
        <g transform={`scale(${cell})`}><Cells table={table} hatch={id} /></g>
        <path class="lines" d={Array.from({ length: keys + 1 }, (_, j) => `M${px(j * cell)} 0V${px(rows * cell)}`).join("") + Array.from({ length: rows + 1 }, (_, i) => `M0 ${px(i * cell)}H${px(keys * cell)}`).join("")} />
        {table[0].map((_, j) => <text class={j === most ? "k" : undefined} x={px((j + 0.5) * cell)} y="-6">{label(j, j === most)}</text>)}
        {table.map((_, i) => <text class={i === marked ? "last c" : "last"} x="-6" y={px((i + 0.5) * cell + 4)}>{label(i, i === marked)}</text>)}
        {marked >= 0 && <path class="mark" d={`M-1 ${px(marked * cell - 1)}h${px(keys * cell + 2)}v${px(cell + 2)}h-${px(keys * cell + 2)}z`} />}
      </svg>
    </figure>
  );
};
