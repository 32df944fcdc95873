import { percents } from "../scene/percent";
import { look } from "../scene/scene";
import type { Model } from "./model";

/** All looks as a table: each row looks, each column is looked at. */
export const Map = ({ m }: { m: Model }) => {
  const { scene, say } = m;
  const head = (text: string, role?: string) => <th class={role} dir={m.live ? "auto" : undefined}>{text}</th>;
  return (
    <div class="map" {...(m.live ? { tabIndex: 0, role: "region" as const, "aria-label": say.plain("map") } : {})}>
      <table>
        <thead><tr><th class="none"><small>{say.rich("map.corner")}</small></th>{scene.columns.map((text) => head(text))}</tr></thead>
        <tbody>
          {scene.rows.map((text, i) => {
            const { weights, allowed } = look(scene, i);
            const parts = percents(weights, allowed);
            return (
              <tr>
                {head(text, i === m.row ? "c" : undefined)}
                {weights.map((w, j) => (
                  <td class={allowed[j] ? [contrast(w), m.live || shade(w)].filter((c) => c && c !== true).join(" ") || undefined : "hatch"} style={m.live && allowed[j] ? { "--v": 100 * w } : undefined}>
                    {allowed[j] ? say.percent(parts[j]) : <span class="vh">{say.plain("map.masked")}</span>}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="cap">{say.rich("map.text")}</p>
    </div>
  );
};

/** Where no script runs, the shade of a weight is a class: its tenths. */
export const shade = (w: number): string | undefined => (w < 0.05 ? undefined : "v" + Math.round(10 * w));

/** Whether the number in a cell stands on ink, on paper, or between: see the tokens. */
const contrast = (w: number): string => (w >= 0.555 ? "hi" : w >= 0.505 ? "mid" : "");
