import type { ComponentChildren } from "preact";
import { still } from "../catalogue/still";
import type { Language } from "../scene/percent";
import { Pages } from "../pages/frame";
import { start } from "../words/state";
import { tasks } from "../words/tasks";
import { Compare } from "./compare";
import { Map } from "./map";
import { modelOf } from "./model";
import { Gradients, Still } from "./still";
import { Formula, Sum } from "./sum";
import { Summary } from "./summary";
import { Values } from "./values";

/** For readers without JavaScript: never shown, nor even parsed as elements, where it runs. */
const Without = ({ children }: { children: ComponentChildren }) => <noscript>{children}</noscript>;

/** The page as it is before any script runs: its first state, and for those who read without scripts all that the
 *  tasks ask for: both sentences, every look, three temperatures, the answers. */
export const Reading = ({ language }: { language: Language }) => {
  const first = start("money", language);
  const m = modelOf(first, language, { row: first.chosen });
  const second = modelOf(start("seat", language), language);
  const { say } = m;
  const texts = still[language];
  const [before, after] = texts.temperatures.split("{bank}");
  const rich = (text: string) => text.split("*").map((part, i) => (i % 2 ? <i>{part}</i> : part));
  const other = language === "es" ? "en" : "es";
  return (
    <div class="mirada" lang={language}>
      <div class="page">
        <Gradients />
        <header>
          <b>Mirada</b><Pages say={say} still={"?lang=" + language} />
          <Without><a class="sans lab" href={"?lang=" + other} lang={other} hreflang={other}>{say.rich("switch")}</a></Without>
        </header>
        <main class="grid">
          <div class="a">
            <h1>{say.rich("title")}</h1>
            <p class="lead">{say.rich("lead", { bank: { text: say.plain("bank"), role: "c i" } })}</p>
            <Without><p class="hint aside">{rich(texts.note)}</p></Without>
            <div class="hold" />
            <Still m={m} id="a" width={704} />
            <Summary m={m} />
            <Without><Still m={second} id="b" width={704} /><Summary m={second} /></Without>
          </div>
          <div class="b">
            <Compare m={m} alt={texts.compare} />
            <Sum m={m} />
            <Values m={m} both alt={texts.values} />
            <Without>
              <section class="wide">
                <h2>{before}<bdi class="c i">{say.plain("bank")}</bdi>{after}</h2>
                <p class="cap">{texts.order}</p>
                {[0.1, 1, 10].map((temperature, i) => (
                  <div class="three"><span><i>T</i> = {say.number(temperature)}</span>
                    <Still m={modelOf({ ...first, temperature }, language)} id={"t" + i} width={280} small words={i ? "t0w" : undefined} /></div>
                ))}
              </section>
            </Without>
            <Formula m={m} />
            <p class="fine wide">{say.rich("note")}</p>
          </div>
          <div class="t">
            <Without>
              <h2>{texts.map}</h2>
              <Map m={m} />
              <h2>{say.rich("tasks")}</h2>
              <ol class="tasks">
                {tasks(language).map((task, i) => (
                  <li><details open={!i}>
                    <summary><span>{say.rich("task." + task.id)}</span></summary>
                    <div class="all">
                      {task.steps.map((step) => [<i>{say.rich(`step.${step.id}.ask`)}</i>, <p>{say.rich("answer." + step.id)}</p>])}
                    </div>
                  </details></li>
                ))}
              </ol>
            </Without>
          </div>
        </main>
      </div>
    </div>
  );
};
