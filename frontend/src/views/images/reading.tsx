import { Pages } from "../../pages/frame";
import type { Language } from "../../scene/percent";
import { sayIn } from "../say";

const [ROWS, COLUMNS, SIDE] = [6, 10, 16];

/** The page before any script runs; and for those who read without scripts the sample picture with its numbered grid. */
export const ImagesReading = ({ language }: { language: Language }) => {
  const say = sayIn(language);
  const other = language === "es" ? "en" : "es";
  return (
    <div class="mirada images" lang={language}>
      <div class="page">
        <header>
          <b>Mirada</b><Pages say={say} here="images" still={"?lang=" + language} />
          <noscript><a class="sans" href={"?lang=" + other} lang={other} hreflang={other}>{say.rich("switch")}</a></noscript>
        </header>
        <main class="two">
          <div class="left">
            <div class="p1">
              <h1>{say.rich("title")}</h1>
              <p class="lead">{say.rich("lead", { n: "60", k: "768" })}</p>
              <noscript>
                <p class="hint aside">{say.rich("need.script")}</p>
                <figure class="still-shot">
                  <img src="/images/sample.png" width="160" height="96" alt={say.plain("still.alt")} />
                  <svg class="cut-over" viewBox={`0 0 ${COLUMNS * SIDE} ${ROWS * SIDE}`} aria-hidden="true">
                    <path class="cut" d={Array.from({ length: COLUMNS + 1 }, (_, j) => `M${j * SIDE} 0v${ROWS * SIDE}`).join("") + Array.from({ length: ROWS + 1 }, (_, i) => `M0 ${i * SIDE}h${COLUMNS * SIDE}`).join("")} />
                    {Array.from({ length: ROWS * COLUMNS }, (_, i) => <text x={(i % COLUMNS) * SIDE + 1.5} y={Math.floor(i / COLUMNS) * SIDE + 4.2}>{i}</text>)}
                  </svg>
                </figure>
                <p class="cap">{say.rich("still.caption")} {say.rich("credit", { who: "danielbuechele" })}</p>
              </noscript>
            </div>
          </div>
        </main>
      </div>
    </div>
  );
};
