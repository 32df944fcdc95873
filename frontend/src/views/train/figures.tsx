import { numberText } from "../../scene/percent";
import type { Maps } from "../../train/api";
import { lossText, shareText } from "../../train/numbers";
import { onPattern } from "../../train/shades";
import type { Watched } from "../../train/state";
import type { Say } from "../say";

/** How often chance is right, and what it loses, where answers are digits. */
const CHANCE: Record<string, number> = { reverse: 10, copy: 10, shift: 10, sort: 10, "reverse-seq2seq": 10 };

/** Where a position should look, as it is written: 7 − i. */
export const goal = (task: string, rows: number): preact.ComponentChildren =>
  task === "reverse" ? [rows - 1, " − ", <i>i</i>] : task === "shift" ? [<i>i</i>, " − 1"] : <i>i</i>;

interface Props { say: Say; watched: Watched; now: Maps | undefined; block: number }

/** What the last examination came to, beside what chance would. */
export const Figures = ({ say, watched: { run }, now, block }: Props) => {
  const { language } = say;
  const { score } = run;
  const classes = CHANCE[run.task];
  const tables = now?.maps[block] ?? [];
  const weights = tables.map((table) => onPattern(run.task, table)).filter((w) => w !== null);
  const list = tables.map((_, head) => String(head + 1)).join(", ").replace(/, (\d+)$/, ` ${say.plain("and")} $1`);
  const line = (name: preact.ComponentChildren, beside: preact.ComponentChildren, value: preact.ComponentChildren) =>
    <tr><th scope="row">{name}</th><td>{beside}</td><td>{value}</td></tr>;
  return (
    <section>
      <h2>{say.rich("unseen.some")}</h2>
      <table class="eq figures">
        <tbody>
          {line(say.rich("loss"), classes && say.rich("chance.is", { p: numberText(Math.log(classes), language) }), lossText(score?.loss, language))}
          {line(say.rich("accuracy"), classes && say.rich("chance.is", { p: say.percent(100 / classes) }), shareText(score?.tokens, language))}
          {line(say.rich("whole"), "", shareText(score?.sequences, language))}
          {weights.length > 0 && line([say.rich("pattern"), " ", goal(run.task, tables[0].length)], weights.length > 1 ? say.rich("pattern.heads", { list }) : "", weights.map((w) => [say.percent(Math.round(100 * w)), " "]))}
        </tbody>
      </table>
    </section>
  );
};
