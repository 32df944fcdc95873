import { patchOf, type Values } from "../../images/pixels";
import { numberText } from "../../scene/percent";
import type { Say } from "../say";
import { Cells } from "../train/cells";
import { Cut, type Shot } from "./shot";

const FEW = 8; // so many numbers are all written
const NAMES = ["red", "green", "blue"];

interface Props { say: Say; shot: Shot; values: Values | null; size: number; at: number }

/** A patch as the model is given it: a row of numbers. */
export const Vector = ({ say, shot, values, size, at }: Props) => {
  if (at < 0) return <section class="vector"><h2>{say.rich("cls.vector")}</h2><p class="cap">{say.rich("cls.text")}</p></section>;
  const [row, column] = [Math.floor(at / shot.columns), at % shot.columns];
  const channels = values && patchOf(values, size, shot.columns, at);
  const all = channels?.flat() ?? [];
  const text = (x: number) => numberText(x, say.language);
  const list = all.length <= FEW ? all.map(text) : [text(all[0]), text(all[1]), text(all[2]), "…", text(all.at(-1)!)];
  const where = { r: row, c: column, x0: column * size, x1: (column + 1) * size - 1, y0: row * size, y1: (row + 1) * size - 1 };
  return (
    <section class="vector">
      <h2>{say.rich("patch", { n: String(at) })}</h2>
      <div class="close">
        <Cut shot={shot} at={at} size={112} alt={say.plain("patch.alt", { n: String(at) })} />
        <p class="cap">{say.rich("patch.where", Object.fromEntries(Object.entries(where).map(([k, v]) => [k, String(v)])))}</p>
      </div>
      {channels && (
        <div class="rows-of sans">
          {channels.map((numbers, c) => {
            const name = say.plain(channels.length === 1 ? "grey" : NAMES[c]);
            return <div><span>{name}</span>{Strip({ numbers, write: numbers.length <= FEW ? text : undefined })}</div>;
          })}
        </div>
      )}
      {channels && <p class="cap">{say.rich("patch.vector", { k: String(all.length), list: list.join(say.language === "es" ? "; " : ", ") })}. {say.rich(channels.length > 1 ? "patch.channels" : all.length === 4 ? "patch.row" : "patch.grey")}</p>}
    </section>
  );
};

/** Numbers side by side, each as much ink as it is; written, where there are few. */
const Strip = ({ numbers, write }: { numbers: number[]; write?(x: number): string }) =>
  write
    ? <ol class="few">{numbers.map((x) => <li style={{ "--v": 100 * x }}><span>{write(x)}</span></li>)}</ol>
    : <svg viewBox={`0 0 ${numbers.length} 1`} preserveAspectRatio="none" aria-hidden="true"><Cells table={[numbers]} /></svg>;
