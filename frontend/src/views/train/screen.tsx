import { Header } from "../../pages/frame";
import type { Language } from "../../scene/percent";
import type { Run, Task } from "../../train/api";
import { predict, type Memory } from "../../train/cards";
import { ceilingOf } from "../../train/ceiling";
import { countText } from "../../train/numbers";
import { mapsOf } from "../../train/shown";
import { atRest, slide, type Watched } from "../../train/state";
import type { Tried } from "../../train/tried";
import { sayIn, type Say } from "../say";
import { Cards } from "./cards";
import { Curves, CurveTable } from "./curves";
import { Figures } from "./figures";
import { Form, type Choice } from "./form";
import { Large } from "./large";
import { Runs, stateText, without } from "./runs";
import { LEFT, MapStrip } from "./strip";
import { Try } from "./try";

/** All that the page knows. */
export interface State {
  language: Language;
  theme: "light" | "dark" | null;
  tasks: Task[];
  runs: Run[];
  watched: Watched | null;
  choice: Choice | null;
  /** The step whose maps are shown; null: the newest. */
  at: number | null;
  block: number;
  kind: string | null;
  tried: Tried;
  memory: Memory;
  open: string;
  /** Something was asked of the lab and is not done yet; a question. */
  busy: boolean;
  asking: boolean;
  /** What the lab would not do, in its words, or that it does not answer. */
  fault: string;
  /** Seconds until the next attempt to reach it; 0: the line stands. */
  lost: number;
  spoken: string;
  /** Of the column with the maps and the curves. */
  width: number;
}

/** What can be done in the page. */
export interface Acts {
  change(next: Partial<State> | ((s: State) => Partial<State>)): void;
  night(dark: boolean): void;
  otherLanguage(): void;
  start(): void;
  command(what: "pause" | "resume" | "cancel"): void;
  ask(): void;
  /** Try to reach the lab at once. */
  reach(): void;
}

interface Props { s: State; id: string; acts: Acts }

/** The whole page, as it is in a state. */
export const Screen = ({ s, id, acts }: Props) => {
  const say = sayIn(s.language);
  const dark = s.theme ? s.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const run = s.watched?.run ?? null;
  const damaged = run?.state === "failed" && !run.steps; // nobody knows its task, nor can it be asked
  const name = (damaged ? s.choice?.task : run?.task ?? s.choice?.task) ?? "reverse";
  const task = s.tasks.find((t) => t.name === name);
  const slots = s.width < 536 ? 4 : s.width < 660 ? 6 : 8;
  const seen: Seen = { s, id, acts, say, run, name, total: Math.max(run?.steps ?? task?.steps ?? 0, 1), slots, maps: mapsOf(s.watched, s, slots) };
  return (
    <div id={id} class="mirada trainer" lang={s.language} data-theme={s.theme ?? undefined}>
      <div class="page">
        <Header say={say} here="train" dark={dark} onNight={() => acts.night(!dark)} onLanguage={acts.otherLanguage} />
        <main class="two">
          <div class="left">
            <div class="p1 wide-part">
              <Lead {...seen} task={task} />
              <Past {...seen} />
              <Form say={say} id={id} tasks={s.tasks} choice={s.choice} run={run} busy={s.busy} onStart={acts.start} onDo={acts.command}
                onChoose={(change) => acts.change((was) => ({ choice: { ...was.choice!, ...change } }))} />
              {s.watched && s.watched.metrics.length > 0 && <CurveTable say={say} metrics={s.watched.metrics} />}
            </div>
            <div class="p3">
              {run && !damaged && run.family !== "vision" && <Try say={say} id={id} run={run} task={task} tried={s.tried} width={s.width} busy={s.asking}
                onTry={(change) => acts.change((was) => ({ tried: { ...was.tried, ...change } }))} onAsk={acts.ask} />}
            </div>
          </div>
          <div class="right">
            <div class="p2">
              <Now {...seen} />
              {s.watched && <Figures say={say} watched={s.watched} now={seen.maps.last} block={seen.maps.block} />}
            </div>
            <div class="p4">
              <Cards say={say} memory={s.memory} open={s.open} runs={s.runs} onOpen={(open) => acts.change({ open })}
                onPredict={(card, option) => acts.change((was) => ({ memory: predict(was.memory, card, option) }))} />
              <Runs say={say} runs={s.runs.map((each) => (each.id === run?.id ? run : each))} tasks={s.tasks} watched={run?.id ?? null} />
            </div>
          </div>
        </main>
        <p class="vh" role="status">{s.spoken}</p>
      </div>
    </div>
  );
};

interface Seen extends Props { say: Say; run: Run | null; total: number; slots: number; name: string; maps: ReturnType<typeof mapsOf> }

/** The question, what goes wrong, and which run it is. */
const Lead = ({ s, say, run, task, name, acts }: Seen & { task: Task | undefined }) => {
  const model = run?.parameters ? say.plain("model", { n: countText(run.parameters, s.language) }) : say.plain("model.small");
  return [
    <h1>{say.rich("title")}</h1>,
    <p class="lead">{say.rich(s.tasks.length && !task ? "lead.other" : "lead." + name, { model, task: { text: name, role: "" } })}</p>,
    s.fault && <p class="bad note" role="alert">{s.fault}</p>,
    s.lost > 0 && <p class="note bad">{say.rich("lost", { n: s.lost })} <button type="button" class="btn" onClick={acts.reach}>{say.rich("lost.now")}</button></p>,
    run?.state === "failed" && <p class="note bad">{say.rich("failed")} {run.error} {run.step > 0 && say.rich("failed.kept")}</p>,
    run && <p class="which sans"><b>{run.id}</b> {stateText(say, run)}</p>,
  ];
};

/** How it came about: moments of the maps side by side, the curves, and the way back. */
const Past = ({ s, id, acts, say, run, name, total, slots, maps: { kinds, kind, steps, chosen, now, block, newest, shown } }: Seen) => {
  const x = { low: 0, high: total, from: LEFT, to: s.width - 10 };
  const at = newest || !now ? run?.step ?? 0 : now.step;
  const choose = (step: number | null) => acts.change({ at: step === steps.at(-1) ? null : step });
  const size = now?.maps[0][0];
  return [
    kinds.length > 1 && choices(say, id, "kind", kinds, kind, (k) => acts.change({ kind: k }), (k) => say.plain("kind." + k)),
    now && now.maps.length > 1 && choices(say, id, "block", now.maps.map((_, b) => b), block, (b) => acts.change({ block: b }), (b) => `${say.plain("block")} ${b + 1}`),
    <MapStrip say={say} shown={shown} block={block} heads={headsOf(s, now?.maps[block])} rows={size?.length ?? 8} keys={size?.[0].length ?? 8}
      slots={slots} width={s.width} x={x} at={newest ? steps.at(-1) ?? -1 : now.step} onChoose={choose} />,
    <Curves say={say} metrics={s.watched?.metrics ?? []} width={s.width} x={x} at={at} limit={ceilingOf(name)} />,
    <div class="history">
      <input type="range" min="0" max={total} value={at} disabled={steps.length < 2} aria-label={say.plain("history")}
        aria-valuetext={say.plain("history.value", { n: String(now?.step ?? 0), of: String(total) })}
        onInput={(e) => choose(steps[slide(steps, chosen, +e.currentTarget.value)])} />
      <div class="line sans"><span class="hint">{steps.length > 1 ? say.rich("history.at", { n: String(now.step), of: String(total) }) : say.rich(run && !atRest(run) ? "soon" : "empty")}</span>
        {!newest && <button type="button" class="btn" onClick={() => choose(null)}>{say.rich("live")}</button>}</div>
    </div>,
  ];
};

/** The maps of the chosen moment, large. */
const Now = ({ s, id, say, run, total, maps: { now, block, newest } }: Seen) => {
  const empty = () => [...Array(headsOf(s))].map(() => Array.from({ length: 8 }, () => Array<number>(8).fill(0)));
  const goals = { i: { text: "i", role: "i" }, j: run ? goal(run.task, now?.maps[0][0].length ?? 8) : [] };
  return (
    <section>
      <div class="head">
        <h2>{now ? say.rich(!newest ? "then" : run && atRest(run) ? "end" : "now", { n: String(now.step) }) : say.rich("map.none")}</h2>
        {!(now && now.step === total) && <span class="hint">{say.rich("of", { n: String(total) })}</span>}
      </div>
      <div class="larges">
        {(now?.maps[block] ?? empty()).map((table, head) => (
          <Large key={"l" + head} say={say} table={table} name={say.plain("head", { n: String(head + 1) })} id={`${id}hatch${head}`} row={now ? s.tried.row : -1} />
        ))}
      </div>
      <p class="cap">{say.rich("map.row")} {run && ["reverse", "copy", "shift"].includes(run.task) && !without(run) && say.rich("map." + run.task, goals)}</p>
    </section>
  );
};

const headsOf = (s: State, maps?: unknown[]): number => maps?.length ?? s.watched?.run.heads ?? s.choice?.heads ?? 2;

/** «7 − i» in pieces, as a sentence takes it. */
const goal = (task: string, rows: number) => {
  const i = { text: "i", role: "i" };
  return task === "reverse" ? [{ text: `${rows - 1} − ` }, i] : task === "shift" ? [i, { text: " − 1" }] : [i];
};

const choices = <T extends string | number>(say: Say, id: string, name: string, all: T[], now: T, choose: (x: T) => void, text: (x: T) => string) => (
  <fieldset class="pair choices sans">
    <legend class="vh">{say.plain(name)}</legend>
    {all.map((x) => <label key={name + x}><input type="radio" name={id + name} checked={x === now} onChange={() => choose(x)} /><bdi>{text(x)}</bdi></label>)}
  </fieldset>
);
