import type { Run } from "../../train/api";
import { CARDS, type Card, type Memory } from "../../train/cards";
import { ceilingOf } from "../../train/ceiling";
import { shareText } from "../../train/numbers";
import type { Say } from "../say";

interface Props { say: Say; memory: Memory; open: string; runs: Run[]; onOpen(id: string): void; onPredict(card: string, option: string): void }

/** Predict, run, read why. */
export const Cards = ({ say, memory, open, runs, onOpen, onPredict }: Props) => {
  const body = (card: Card) => {
    const said = memory.said[card.id];
    const run = runs.find(({ id }) => id === memory.shown[card.id]);
    const done = !!memory.shown[card.id];
    const found = run?.score ? shareText(run.score.tokens, say.language) : "";
    const by = { p: shareText(ceilingOf("reverse")!, say.language), found };
    return (
      <div class="do">
        <b class={said ? "" : "now"}>{say.rich("predict")}</b>
        <div class="chips">
          {card.options.map((option) => (
            <button key={option} type="button" disabled={!!said && said !== option && !(done && option === card.right)} aria-pressed={said === option}
              class={"chip" + (done && option === card.right ? " yes" : "")} onClick={() => onPredict(card.id, option)}>{say.rich(`card.${card.id}.${option}`)}</button>
          ))}
        </div>
        {said && <b class="now">{say.rich("check")}</b>}
        {said && (done
          ? <div>{say.rich(said === card.right ? "answer.right" : "answer.wrong")} {say.rich(`card.${card.id}.answer`, by)} {run && <a class="k" href={"#" + encodeURIComponent(run.id)}>{say.rich("card.see")}</a>}</div>
          : <div>{say.rich(`card.${card.id}.act`)}</div>)}
      </div>
    );
  };
  return (
    <section>
      <h2>{say.rich("tasks")}</h2>
      <ol class="tasks">
        {CARDS.map((card) => (
          <li key={card.id}>
            <details open={open === card.id}>
              <summary class={memory.shown[card.id] ? "done" : undefined} onClick={(e) => { e.preventDefault(); onOpen(open === card.id ? "" : card.id); }}>
                <span>{say.rich("card." + card.id)}{memory.shown[card.id] && <span class="vh">, {say.rich("done")}</span>}</span>
              </summary>
              {body(card)}
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
};
