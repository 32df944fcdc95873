import type { Run, Task } from "../../train/api";
import { shareText } from "../../train/numbers";
import type { Say } from "../say";
import { taskName } from "./form";

/** How far a run is, in a few words. */
export const stateText = (say: Say, { state, place, step, steps, score }: Run): string => {
  const by = { n: String(state === "waiting" ? place ?? "" : step), of: String(steps), p: score ? shareText(score.tokens, say.language) : "" };
  return say.plain("state." + state + (state === "finished" && !score ? ".none" : ""), by);
};

export const without = (run: Run): boolean => !run.options.positions;

/** The runs there are, the newest first, each with its state; those that wait say which they are in line. */
export const Runs = ({ say, runs, tasks, watched }: { say: Say; runs: Run[]; tasks: Task[]; watched: string | null }) => (
  <section>
    <h2>{say.rich("runs")}</h2>
    {!runs.length && <p class="cap">{say.rich("runs.none")}</p>}
    <ul class="runs">
      {runs.map((run) => (
        <li key={"r" + run.id}>
          <a href={"#" + encodeURIComponent(run.id)} aria-current={run.id === watched ? "true" : undefined}>
            <b>{run.id}</b>
            <span>{[taskName(say, tasks, run.task), without(run) && say.plain("without"), run.options.causal && say.plain("masked.run")].filter(Boolean).join(", ")}</span>
            <small class={"sans" + (run.state === "failed" ? " bad" : "")}>{stateText(say, run)}</small>
          </a>
        </li>
      ))}
    </ul>
  </section>
);
