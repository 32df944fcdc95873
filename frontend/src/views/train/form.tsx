import type { Options, Run, Task } from "../../train/api";
import type { Say } from "../say";

/** What is chosen for the next run. */
export type Choice = { task: string } & Options & { positions: boolean };

/** A task as it is unless told otherwise. */
export const choiceOf = ({ name, options }: Task): Choice => ({ ...options, task: name, positions: true, causal: options.causal });

const SIZES: { name: "d_model" | "heads" | "blocks" | "epochs" | "seed"; values: number[] }[] = [
  { name: "d_model", values: [16, 32, 64, 128] },
  { name: "heads", values: [1, 2, 4, 8] },
  { name: "blocks", values: [1, 2, 3] },
  { name: "epochs", values: [1, 2, 3, 4, 5, 6, 8, 12] },
  { name: "seed", values: [0, 1, 2, 3, 4] },
];

interface Props {
  say: Say;
  id: string;
  tasks: Task[];
  choice: Choice | null;
  run: Run | null;
  /** Something was asked of the lab and is not answered yet. */
  busy: boolean;
  onChoose(change: Partial<Choice>): void;
  onStart(): void;
  onDo(what: "pause" | "resume" | "cancel"): void;
}

export const taskName = (say: Say, tasks: Task[], name: string): string => (tasks.some((t) => t.name === name) ? say.plain("task." + name) : name);

/** Start, pause, go on, cancel; and what the next run shall be. */
export const Form = ({ say, id, tasks, choice, run, busy, onChoose, onStart, onDo }: Props) => {
  const active = run?.ours && (run.state === "running" || run.state === "waiting");
  const goesOn = run && (run.state === "paused" || run.state === "failed" || run.state === "cancelled") && run.step < run.steps;
  const press = (key: "pause" | "resume" | "cancel", main = false) =>
    <button key={key} type="button" class={main ? "btn main" : "btn"} disabled={busy} onClick={() => onDo(key)}>{say.rich(key)}</button>;
  const encoder = tasks.find((t) => t.name === choice?.task)?.family === "encoder";
  return (
    <form class="train-form sans live" aria-label={say.plain("form")} onSubmit={(e) => { e.preventDefault(); onStart(); }}>
      <div class="act">
        <div class="line">
          {active && run.state === "running" && press("pause", true)}
          {goesOn && press("resume", true)}
          {(active || run?.state === "paused") && press("cancel")}
          <button key="start" class={active || goesOn ? "btn" : "btn main"} disabled={busy || !choice}>{say.rich(run ? "start.again" : "start")}</button>
        </div>
        <div class="line switches">
          <label class="swi">
            <input type="checkbox" role="switch" checked={choice?.positions ?? true} disabled={!choice} onChange={(e) => onChoose({ positions: e.currentTarget.checked })} />
            <span>{say.rich("positions")}</span>
          </label>
          <label class={encoder ? "swi" : "swi none"} title={encoder ? undefined : say.plain("causal.only")}>
            <input type="checkbox" role="switch" checked={!!choice?.causal && encoder} disabled={!encoder} onChange={(e) => onChoose({ causal: e.currentTarget.checked })} />
            <span>{say.rich("causal")}</span>
          </label>
        </div>
      </div>
      <div class="sizes">
        <label class="wide-field"><span>{say.rich("task")}</span>
          <select aria-label={say.plain("task")} value={choice?.task ?? ""} disabled={!choice} onChange={(e) => onChoose(choiceOf(tasks.find((t) => t.name === e.currentTarget.value)!))}>
            {tasks.map((t) => <option key={t.name} value={t.name} selected={t.name === choice?.task}>{say.plain("task." + t.name)}</option>)}
          </select>
        </label>
        {SIZES.map(({ name, values }) => {
          const now = choice?.[name] ?? 1;
          const all = [...new Set([...values, now])].sort((a, b) => a - b);
          return (
            <label key={name}><span>{say.rich(name)}</span>
              <select id={id + name} aria-label={say.plain(name)} disabled={!choice} value={now} onChange={(e) => onChoose({ [name]: +e.currentTarget.value })}>
                {all.map((v) => <option key={"o" + v} value={v} selected={v === now}>{v}</option>)}
              </select>
            </label>
          );
        })}
      </div>
    </form>
  );
};
