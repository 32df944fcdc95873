import { answer, hints, isDone, tasks, type Memory, type Option, type Step } from "../words/tasks";
import { texts } from "../words/sentences";
import type { Model } from "./model";
import { word } from "./say";

interface Props { m: Model; memory: Memory; open: number; onOpen(id: number): void; onPredict(step: string, option: string): void }

const named = (m: Model, step: Step, { id, word: at }: Option) =>
  at === undefined ? m.say.rich("option." + id)
    : word(m.say, texts(step.sentence, m.say.language), at).map((p) => <bdi>{p.text}</bdi>);

/** One step: predict with a click, then act; the answer comes when the page has seen it done. */
const StepCard = ({ m, step, memory, onPredict }: Pick<Props, "m" | "memory" | "onPredict"> & { step: Step }) => {
  const said = memory.said[step.id];
  const done = memory.done[step.id];
  return [
    <b class={said ? "" : "now"}>{m.say.rich("predict")}</b>,
    <div>
      <span>{m.say.rich(`step.${step.id}.ask`)}</span>
      <div class="chips">
        {step.options.map((option) => (
          <button disabled={!!said && said !== option.id && !(done && step.right.includes(option.id))}
            class={"chip" + (done && step.right.includes(option.id) ? " yes" : "")} aria-pressed={said === option.id}
            onClick={() => onPredict(step.id, option.id)}>{named(m, step, option)}</button>
        ))}
      </div>
    </div>,
    said && <b class="now">{m.say.rich("check")}</b>,
    said && <div>{done ? answer(memory, step).map((key) => [m.say.rich(key), " "]) : m.say.rich(`step.${step.id}.act`)}</div>,
  ];
};

/** The cards, one open at a time. */
export const Tasks = ({ m, memory, open, onOpen, onPredict }: Props) => (
  <section>
    <h2>{m.say.rich("tasks")}</h2>
    <ol class="tasks">
      {tasks(m.say.language).map((task) => {
        const steps = task.steps.filter((_, i) => !i || memory.done[task.steps[i - 1].id]);
        return (
          <li key={task.id}>
            <details open={open === task.id} onToggle={(e) => e.currentTarget.open !== (open === task.id) && onOpen(e.currentTarget.open ? task.id : 0)}>
              <summary onClick={(e) => {
                // Here and not when the browser tells of it: what is drawn in between would close the card again.
                e.preventDefault();
                onOpen(open === task.id ? 0 : task.id);
              }} class={isDone(memory, task) ? "done" : undefined}>
                <span>{m.say.rich("task." + task.id)}{isDone(memory, task) && <span class="vh">, {m.say.rich("done")}</span>}</span>
              </summary>
              <div class="do">
                {steps.map((step) => <StepCard key={step.id} m={m} step={step} memory={memory} onPredict={onPredict} />)}
                {hints(memory, task, m.state, m.say.language).map((key) => [<b />, <div class="cap">{m.say.rich(key)}</div>])}
              </div>
            </details>
          </li>
        );
      })}
    </ol>
  </section>
);
