import { percents } from "../scene/percent";
import { look } from "../scene/scene";
import type { Model } from "./model";
import { word } from "./say";

/** All looks as a table: each row looks, each column is looked at. */
export const Map = ({ m }: { m: Model }) => {
  const { scene, state, say } = m;
  const head = (i: number, scope: string, role: string) => <th scope={scope}>{word(say, state.words, i).map((p) => <bdi class={role}>{p.text}</bdi>)}</th>;
  return (
    <div class="map" tabIndex={m.live ? 0 : undefined} role="region" aria-label={say.plain("map")} data-lm-suppress-shortcuts={m.live}>
      <table>
        <thead><tr><td class="none"><small>{say.rich("map.corner")}</small></td>{state.words.map((_, j) => head(j, "col", "k"))}</tr></thead>
        <tbody>
          {state.words.map((_, i) => {
            const { weights, allowed } = look(scene, i);
            const parts = percents(weights, allowed);
            return (
              <tr>
                {head(i, "row", i === m.row ? "c" : "")}
                {weights.map((w, j) => (
                  <td class={allowed[j] ? shade(w, m.live) : "hatch"} style={m.live && allowed[j] ? { "--v": 100 * w } : undefined}>
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

/** The class of a cell: whether its number stands on ink, and in a page that stands still its shade, to a tenth. */
const shade = (w: number, live: boolean): string =>
  [w >= 0.555 ? "hi" : w >= 0.505 ? "mid" : "", live || w < 0.05 ? "" : "v" + Math.round(10 * w)].filter(Boolean).join(" ");
