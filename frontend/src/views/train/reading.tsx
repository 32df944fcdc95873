// finished.json is a real run, 313 steps of mirada.train("reverse", snapshots_every=10) with seed 0: of its 33 maps the
// six that mirada.commands.moments.telling(run.maps["self"], 6) chose, [moment][head][row][key] in whole per cents.
import finished from "../../train/finished.json";
import { Pages } from "../../pages/frame";
import type { Language } from "../../scene/percent";
import { countText } from "../../train/numbers";
import { sayIn } from "../say";
import { Tiny } from "./cells";

/** The page before any script runs: what it is about; and for those who read without scripts, that it needs one, and a
 *  run that has come to its end. */
export const TrainReading = ({ language }: { language: Language }) => {
  const say = sayIn(language);
  const other = language === "es" ? "en" : "es";
  const { steps, maps } = finished;
  return (
    <div class="mirada trainer" lang={language}>
      <div class="page">
        <header>
          <b>Mirada</b><Pages say={say} here="train" still={"?lang=" + language} />
          <noscript><a class="sans" href={"?lang=" + other} lang={other} hreflang={other}>{say.rich("switch")}</a></noscript>
        </header>
        <main class="two">
          <div class="left">
            <div class="p1">
              <h1>{say.rich("title")}</h1>
              <p class="lead">{say.rich("lead.reverse", { model: say.plain("model", { n: countText(13_674, language) }) })}</p>
              <noscript>
                <p class="hint aside">{say.rich("need.script")}</p>
                <div class="moments six">
                  <div class="heads sans"><span />{maps[0].map((_, head) => <span>{say.rich("head", { n: head + 1 })}</span>)}</div>
                  {steps.map((step, i) => (
                    <div class="moment">
                      <span>{!i && say.plain("step") + " "}{step}</span>
                      {maps[i].map((table, head) => <Tiny table={table.map((row) => row.map((w) => w / 100))} alt={i ? undefined : say.plain("still.alt", { head: String(head + 1), steps: steps.join(", ") })} />)}
                    </div>
                  ))}
                </div>
                <p class="cap">{say.rich("still.caption")}</p>
              </noscript>
            </div>
          </div>
        </main>
      </div>
    </div>
  );
};
