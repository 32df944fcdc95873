import { most, type Gazed } from "../../images/gaze";
import { shareText } from "../../train/numbers";
import type { Say } from "../say";
import { Cut, type Shot } from "./shot";

const SHOWN = 5;

/** What is looked at most, first the most, and how much is left for the others. */
export const Looked = ({ say, shot, gaze }: { say: Say; shot: Shot; gaze: Gazed }) => {
  const first = most(gaze, SHOWN);
  const count = gaze.patches.length + +(gaze.cls !== null) - first.length;
  const rest = Math.max(0, 1 - first.reduce((sum, { weight }) => sum + weight, 0));
  const top = first[0].weight;
  const line = (key: string, picture: preact.ComponentChildren, name: preact.ComponentChildren, weight: number, bar: boolean) => (
    <tr key={key}>
      <td>{picture}</td><th scope="row">{name}</th>
      <td class="bar-of">{bar && <i style={{ "--v": (100 * weight) / top }} />}</td>
      <td>{shareText(weight, say.language)}</td>
    </tr>
  );
  return (
    <section>
      <h2>{say.rich("looked")}</h2>
      <table class="looked">
        <tbody>
          {first.map(({ at, weight }, i) => line("l" + i, at < 0 ? "" : <Cut shot={shot} at={at} size={34} />, at < 0 ? say.rich("looked.cls") : say.rich("looked.name", { n: String(at) }), weight, true))}
          {count > 0 && line("rest", "", say.rich("looked.rest", { n: String(count) }), rest, false)}
        </tbody>
      </table>
    </section>
  );
};

/** What it says the picture is: a column for each answer. */
export const Chances = ({ say, probabilities, digits, blank }: { say: Say; probabilities: { label: string; share: number }[] | null; digits: boolean; blank: boolean }) => {
  if (!probabilities) return null;
  const best = probabilities.reduce((a, b) => (b.share > a.share ? b : a));
  const shown = digits ? probabilities : [...probabilities].sort((a, b) => b.share - a.share).slice(0, SHOWN);
  return (
    <section class="chances">
      <div class="head"><h2>{say.rich(digits ? "digits" : "labels")}</h2>
        <span class="cap">{blank ? say.rich("digits.blank") : say.rich(digits ? "digits.most" : "labels.most", { label: { text: best.label, role: "" }, p: shareText(best.share, say.language) })}</span></div>
      <ol class={digits ? "columns sans" : "rows-in sans"} style={{ "--n": shown.length }}>
        {shown.map(({ label, share }, i) => (
          <li key={"c" + i} class={!blank && label === best.label ? "most" : undefined}>
            <bdi>{label}</bdi><i style={{ "--v": blank ? 0 : 100 * share }} /><span>{blank ? "" : share < 0.995 ? say.percent(Math.round(100 * share)) : shareText(share, say.language)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
};
