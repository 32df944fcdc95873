import { inkMix } from "../../scene/ink";
import { hidden, shades, type Table } from "../../train/shades";

/** The cells of a map, each a unit wide: paper is 0, ink is 1. What is masked is outlined when small, hatched when not. */
export const Cells = ({ table, hatch }: { table: Table; hatch?: string }) => {
  const masked = hidden(table);
  return (
    <g>
      <g class="ink">{shades(table).map(({ shade, path }) => <path d={path} {...{ color: inkMix(shade / 100) }} />)}</g>
      {masked && hatch && [
        <pattern id={hatch} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform={`scale(${1 / 20}) rotate(45)`}>
          <path d="M0 0V5" stroke="var(--edge)" stroke-width="1.3" />
        </pattern>,
        <g class="hatching" fill={`url(#${hatch})`}><path d={masked} /></g>,
      ]}
      {masked && !hatch && <path d={outline(table)} class="edge inner" />}
    </g>
  );
};

/** The line between what may be looked at and what may not. */
const outline = (table: Table): string =>
  table.flatMap((row, i) => row.map((w, j) => {
    if (w === null) return "";
    const right = j + 1 < row.length && row[j + 1] === null ? `M${j + 1} ${i}v1` : "";
    return right + (i > 0 && table[i - 1][j] === null ? `M${j} ${i}h1` : "");
  })).join("");

/** A small map, as wide as there is room. */
export const Tiny = ({ table, alt }: { table: Table; alt?: string }) => (
  <svg class="tiny" viewBox={`0 0 ${table[0].length} ${table.length}`} {...(alt ? { role: "img", "aria-label": alt } as const : { "aria-hidden": true } as const)}>
    <Cells table={table} />
    <path class="edge" d={`M0 0H${table[0].length}V${table.length}H0z`} />
  </svg>
);
