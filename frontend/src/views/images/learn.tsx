import type { Run } from "../../train/api";
import { shareText } from "../../train/numbers";
import type { Say } from "../say";

interface Props { say: Say; run: Run | null; busy: boolean; onStart(): void }

/** The model of digits learns on its first use: what that is, a button, then a bar. */
export const Learn = ({ say, run, busy, onStart }: Props) => {
  const active = run && (run.state === "running" || run.state === "waiting");
  const by = { n: String(run?.state === "waiting" ? run.place ?? "" : run?.step ?? 0), of: String(run?.steps ?? 0), why: run?.error ?? "" };
  const state = !run ? "" : run.state === "waiting" ? "learn.waiting" : run.state === "failed" ? "learn.failed" : active ? "learn.step" : "learn.paused";
  return (
    <section class="learn">
      <h2>{say.rich("learn")}</h2>
      <p>{say.rich("learn.text")}</p>
      {run && active && <progress max={run.steps} value={run.step} aria-label={say.plain("learn.bar")} />}
      {state && <p class={run?.state === "failed" ? "bad" : "cap"}>{say.rich(state, by)} {active && run.score?.tokens != null && say.rich("learn.score", { p: shareText(run.score.tokens, say.language) })}</p>}
      <div class="line">
        {!active && <button type="button" class="btn main" disabled={busy} onClick={onStart}>{say.rich(!run ? "learn.start" : run.state === "failed" ? "learn.again" : "learn.on")}</button>}
        {run && <a class="sans" href={"/train?lang=" + say.language + "#" + encodeURIComponent(run.id)}>{say.rich("learn.see")}</a>}
      </div>
    </section>
  );
};
