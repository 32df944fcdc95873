import type { Language } from "../scene/percent";
import { at as path, call, Refused, type Answer, type Lab, type Run, type Task, type Whole } from "../train/api";
import { blank, observe, predict, type Memory } from "../train/cards";
import { ceilingOf } from "../train/ceiling";
import { telling } from "../train/moments";
import { countText, shareText } from "../train/numbers";
import { apply, atRest, historyOf, kindsOf, known, nearest, slide, type Watched } from "../train/state";
import { follow, type Following, type Sent } from "../train/stream";
import { untried, type Tried } from "../train/tried";
import type { Child } from "../views/jsx";
import { sayIn, type Say } from "../views/say";
import { Cards } from "../views/train/cards";
import { Curves, CurveTable } from "../views/train/curves";
import { Figures } from "../views/train/figures";
import { choiceOf, Form, type Choice } from "../views/train/form";
import { Large } from "../views/train/large";
import { Runs, stateText, without } from "../views/train/runs";
import { LEFT, MapStrip } from "../views/train/strip";
import { Try } from "../views/train/try";
import { Header } from "./frame";
import { draw } from "./draw";
import { recall, remember } from "./memory";

export interface TrainOptions { language: Language; token?: string }

interface State {
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

const POLL = 3000; // milliseconds between two looks at the list of runs

export class Train {
  private state: State;
  private before: State;
  private id = "train";
  private drawing = 0;
  private following: Following | null = null;
  /** The last event that is known of each run: from there on, it is told again. */
  private last: Record<string, string> = {};
  private polling = 0;

  constructor(private root: Element, private options: TrainOptions) {
    this.before = this.state = {
      language: options.language, theme: recall("theme") as State["theme"], tasks: [], runs: [], watched: null, choice: null,
      at: null, block: 0, kind: null, tried: untried, memory: this.recalled(), open: "positions", busy: false, asking: false, fault: "", lost: 0,
      spoken: "", width: 704,
    };
    this.root.textContent = "";
    this.draw();
    this.live();
  }

  private recalled(): Memory {
    try {
      return { ...blank, ...JSON.parse(recall("train") ?? "{}") };
    } catch {
      return blank;
    }
  }

  private lab = (): Lab => ({ token: this.options.token, language: this.state.language });
  private say = (): Say => sayIn(this.state.language);

  // ---- what it does in the page

  /** The next state; drawn once for all that comes until the next frame. */
  private change(next: Partial<State> | ((s: State) => Partial<State> | null)): void {
    this.state = { ...this.state, ...(typeof next === "function" ? next(this.state) : next) };
    if (!this.drawing) this.drawing = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.drawing = 0;
    draw(this.root, [this.render(this.state)]);
    const before = this.before;
    this.before = this.state;
    if (before !== this.state) this.followed(before);
  }

  private live(): void {
    const place = this.root.querySelector<HTMLElement>(".wide-part")!;
    const measure = () => {
      const zoom = place.getBoundingClientRect().width / place.offsetWidth || 1;
      const width = Math.floor(place.getBoundingClientRect().width / zoom);
      if (width && width !== this.state.width) this.change({ width });
    };
    measure();
    new ResizeObserver(measure).observe(place);
    addEventListener("hashchange", () => this.fromAddress());
    document.addEventListener("visibilitychange", () => !document.hidden && this.poll());
    this.document();
    void this.begin();
  }

  /** Title, language and scroll bars of the document. */
  private document(): void {
    const page = document.documentElement;
    page.lang = this.state.language;
    page.style.colorScheme = this.state.theme ?? "";
    document.title = this.say().plain("title") + " · Mirada";
  }

  /** What a change brings along outside of the drawing. */
  private followed(before: State): void {
    const { language, theme, memory, watched, lost } = this.state;
    if (language !== before.language || theme !== before.theme) this.document();
    if (memory !== before.memory) remember("train", JSON.stringify(memory));
    if (watched && before.watched?.run.id === watched.run.id) this.tell(before.watched.run, watched.run);
    if (!lost !== !before.lost) this.speak(this.say().plain(lost ? "say.lost" : "say.back"));
    if (watched && atRest(watched.run) && watched.run.state === "finished" && this.state.tried.of !== watched.run.id && !this.state.asking && !this.state.tried.fault) void this.ask();
  }

  /** For a screen reader: only that something began or ended. */
  private tell(before: Run, run: Run): void {
    if (before.state === run.state && before.place === run.place) return;
    const by = { n: String(run.state === "waiting" ? run.place ?? "" : run.step), p: run.score ? shareText(run.score.tokens, this.state.language) : "–", why: run.error ?? "" };
    this.speak(this.say().plain("say." + run.state, by));
    if (run.state === "finished") this.change((s) => ({ memory: observe(s.memory, run) }));
  }

  private speak(spoken: string): void {
    this.change({ spoken });
  }

  // ---- what it does with the lab

  /** Asks the lab; what it would not do is said, in its words. */
  private async try_<T>(job: () => Promise<T>): Promise<T | undefined> {
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.change({ fault: this.complaint(error) });
    }
  }

  private complaint(error: Refused): string {
    return error.message || this.say().plain(error.status ? "unknown" : "silent");
  }

  private async begin(): Promise<void> {
    await this.try_(async () => {
      const [{ tasks }, { runs }] = await Promise.all([call<{ tasks: Task[] }>(this.lab(), "tasks"), call<{ runs: Run[] }>(this.lab(), "runs")]);
      this.change({ tasks, runs, choice: tasks.length ? choiceOf(tasks[0]) : null });
      // The one the address names, else one that is learning, else the newest.
      const first = this.named() ?? (runs.find((run) => run.state === "running") ?? runs[0])?.id;
      if (first) await this.watch(first);
    });
    this.polling = window.setTimeout(() => this.poll(), POLL);
  }

  private named(): string | null {
    try {
      return location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)) : null;
    } catch {
      return null;
    }
  }

  private fromAddress(): void {
    const id = this.named();
    if (id && id !== this.state.watched?.run.id) void this.try_(() => this.watch(id));
  }

  /** All that is known of a run, then what happens in it. */
  private async watch(id: string): Promise<void> {
    this.following?.stop();
    this.following = null;
    const whole = await call<Whole>(this.lab(), path(id));
    const watched = known(whole);
    const { run } = watched;
    this.last[id] = String(whole.event);
    if (this.named() !== id) history.replaceState(null, "", "#" + encodeURIComponent(id));
    this.change((s) => {
      const other = s.watched?.run.id !== id;
      const task = s.tasks.find((t) => t.name === run.task);
      return {
        watched, fault: "", lost: 0, ...(other && { at: null, block: 0, kind: null, tried: { ...untried, text: task?.question ?? "" } }),
        ...(other && task && { choice: { ...choiceOf(task), ...run.options } }),
      };
    });
    if (!atRest(run)) this.listen(id);
  }

  private listen(id: string): void {
    this.following?.stop();
    const mine = () => this.state.watched?.run.id === id;
    this.following = follow(this.lab, id, this.last[id] ?? "", {
      event: (sent: Sent) => {
        if (sent.id) this.last[id] = sent.id;
        if (mine()) this.change((s) => ({ watched: s.watched && apply(s.watched, sent) }));
        if (sent.event === "end") {
          this.following = null;
          this.poll();
        }
      },
      lost: (lost) => mine() && this.change({ lost }),
      refused: (error) => mine() && this.change({ fault: this.complaint(error), lost: 0 }),
    });
  }

  /** The list of runs, now and then: others may start some, here or on the command line. */
  private poll = async (): Promise<void> => {
    clearTimeout(this.polling);
    if (!document.hidden) try {
      const { runs } = await call<{ runs: Run[] }>(this.lab(), "runs");
      this.change({ runs });
      // Somebody else made the run go on that is watched here, or it is one of the command line, which tells nobody.
      const { watched } = this.state;
      const now = watched && runs.find((run) => run.id === watched.run.id);
      if (now && !this.following && (now.state !== watched.run.state || now.step !== watched.run.step)) await this.watch(now.id);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (!this.state.lost) this.change({ fault: this.complaint(error) });
    }
    clearTimeout(this.polling);
    this.polling = window.setTimeout(this.poll, POLL);
  };

  private async asked<T>(job: () => Promise<T>): Promise<void> {
    this.change({ busy: true, fault: "" });
    await this.try_(job);
    this.change({ busy: false });
  }

  private start = (): void => void this.asked(async () => {
    const { task, positions, causal, epochs, d_model, heads, blocks, seed } = this.state.choice!;
    const options = { positions, causal, d_model, heads, blocks, seed, ...(epochs ? { epochs } : {}) };
    const run = await call<Run>(this.lab(), "runs", { task, options });
    this.speak(this.say().plain(run.state === "waiting" ? "say.waiting" : "say.start", { n: String(run.place ?? "") }));
    await this.watch(run.id);
    await this.poll();
  });

  private command = (what: "pause" | "resume" | "cancel"): void => void this.asked(async () => {
    const { id } = this.state.watched!.run;
    const run = await call<Run>(this.lab(), path(id, "/" + what), {});
    this.change((s) => (s.watched?.run.id === id ? { watched: { ...s.watched, run } } : null));
    if (!atRest(run) && !this.following) this.listen(id);
    await this.poll();
  });

  private ask = async (): Promise<void> => {
    const { watched, tried } = this.state;
    if (!watched) return;
    const { id } = watched.run;
    this.change({ asking: true });
    try {
      const answer = await call<Answer>(this.lab(), path(id, "/answer"), { text: tried.text });
      // A decoder begins to write at the last sign of the question.
      if (this.state.watched?.run.id !== id) return; // it came too late
      const first = tried.of !== id && watched.run.family === "decoder" ? { row: [...answer.question].length - 1 } : {};
      this.change((s) => ({ tried: { ...s.tried, ...first, of: id, answer, fault: "", scene: Math.min(s.tried.scene, answer.scenes.length - 1) } }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (this.state.watched?.run.id === id) this.change((s) => ({ tried: { ...s.tried, of: id, fault: this.complaint(error) } }));
    } finally {
      this.change({ asking: false });
    }
  };

  // ---- what it looks like

  private render(s: State): Child {
    const say = this.say();
    const { language, theme, watched, tasks, runs, width, fault, lost } = s;
    const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const run = watched?.run ?? null;
    const task = tasks.find((t) => t.name === (run?.task ?? s.choice?.task));
    const name = run?.task ?? s.choice?.task ?? "reverse";
    const lead = tasks.length && !task ? "lead.other" : "lead." + name;
    const parameters = run?.parameters || null;
    const kinds = watched ? kindsOf(watched.maps) : [];
    const kind = s.kind !== null && kinds.includes(s.kind) ? s.kind : kinds[0];
    const past = watched && kind ? historyOf(watched.maps, kind) : [];
    const steps = past.map(({ step }) => step);
    const chosen = s.at === null ? past.length - 1 : nearest(steps, s.at);
    const now = past[chosen];
    const newest = chosen === past.length - 1;
    const block = Math.min(s.block, (now?.maps.length ?? 1) - 1);
    const narrow = width < 536;
    const slots = narrow ? 4 : width < 660 ? 6 : 8;
    const shown = telling(past.map(({ maps }) => maps[block].flat(2)), slots).map((i) => past[i]);
    const total = Math.max(run?.steps ?? task?.steps ?? 0, 1);
    const x = { low: 0, high: total, from: LEFT, to: width - 10 };
    const at = newest || !now ? run?.step ?? 0 : now.step;
    const goals = { i: { text: "i", role: "i" }, j: run ? this.goal(run.task, now?.maps[0][0].length ?? 8) : [] };
    const heads = now?.maps[block].length ?? run?.heads ?? s.choice?.heads ?? 2;
    const choose = (step: number | null) => this.change({ at: step === steps.at(-1) ? null : step });
    return (
      <div id={this.id} class="mirada trainer" lang={language} data-theme={theme ?? undefined}>
        <div class="page">
          <Header say={say} here="train" dark={dark} onNight={() => {
            remember("theme", dark ? "light" : "dark");
            this.change({ theme: dark ? "light" : "dark" });
          }} onLanguage={() => {
            const other = language === "es" ? "en" : "es";
            remember("language", other);
            this.change({ language: other });
            void this.poll();
          }} />
          <main class="two">
            <div class="left">
              <div class="p1 wide-part">
                <h1>{say.rich("title")}</h1>
                <p class="lead">{say.rich(lead, { model: parameters ? say.plain("model", { n: countText(parameters, language) }) : say.plain("model.small"), task: { text: name, role: "" } })}</p>
                {fault && <p class="bad note" role="alert">{fault}</p>}
                {lost > 0 && <p class="note bad">{say.rich("lost", { n: lost })} <button type="button" class="btn" onClick={() => this.following?.now()}>{say.rich("lost.now")}</button></p>}
                {run?.state === "failed" && <p class="note bad">{say.rich("failed")} {run.error} {run.step > 0 && say.rich("failed.kept")}</p>}
                {run && <p class="which sans"><b>{run.id}</b> {stateText(say, run)}</p>}
                {kinds.length > 1 && this.choices(say, "kind", kinds.map((k) => k), kind!, (k) => this.change({ kind: k }), (k) => say.plain("kind." + k))}
                {now && now.maps.length > 1 && this.choices(say, "block", now.maps.map((_, b) => b), block, (b) => this.change({ block: b }), (b) => `${say.plain("block")} ${b + 1}`)}
                <MapStrip say={say} shown={shown} block={block} heads={heads} rows={now?.maps[0][0].length ?? 8} keys={now?.maps[0][0][0].length ?? 8}
                  slots={slots} width={width} x={x} at={newest ? steps.at(-1) ?? -1 : now.step} onChoose={choose} />
                <Curves say={say} metrics={watched?.metrics ?? []} width={width} x={x} at={at} limit={ceilingOf(name)} />
                <div class="history">
                  <input type="range" min="0" max={total} value={at} disabled={past.length < 2} aria-label={say.plain("history")}
                    aria-valuetext={say.plain("history.value", { n: String(now?.step ?? 0), of: String(total) })}
                    onInput={(e) => choose(steps[slide(steps, chosen, +e.currentTarget.value)])} />
                  <div class="line sans"><span class="hint">{past.length > 1 ? say.rich("history.at", { n: String(now.step), of: String(total) }) : say.rich( run && !atRest(run) ? "soon" : "empty")}</span>
                    {!newest && <button type="button" class="btn" onClick={() => choose(null)}>{say.rich("live")}</button>}</div>
                </div>
                <Form say={say} id={this.id} tasks={tasks} choice={s.choice} run={run} busy={s.busy} onStart={this.start} onDo={this.command}
                  onChoose={(change) => this.change((was) => ({ choice: { ...was.choice!, ...change } }))} />
                {watched && watched.metrics.length > 0 && <CurveTable say={say} metrics={watched.metrics} />}
              </div>
              <div class="p3">
                {run && <Try say={say} id={this.id} run={run} task={task} tried={s.tried} width={width} busy={s.asking}
                  onTry={(change) => this.change((was) => ({ tried: { ...was.tried, ...change } }))} onAsk={() => void this.ask()} />}
              </div>
            </div>
            <div class="right">
              <div class="p2">
                <section>
                  <div class="head">
                    <h2>{now ? say.rich(!newest ? "then" : run && atRest(run) ? "end" : "now", { n: String(now.step) }) : say.rich("map.none")}</h2>
                    {!(now && now.step === total) && <span class="hint">{say.rich("of", { n: String(total) })}</span>}
                  </div>
                  <div class="larges">
                    {(now?.maps[block] ?? [...Array(heads)].map(() => Array.from({ length: 8 }, () => Array<number>(8).fill(0)))).map((table, head) => (
                      <Large key={"l" + head} say={say} table={table} name={say.plain("head", { n: String(head + 1) })} id={`${this.id}hatch${head}`} row={now ? s.tried.row : -1} />
                    ))}
                  </div>
                  <p class="cap">{say.rich("map.row")} {run && ["reverse", "copy", "shift"].includes(run.task) && !without(run) && say.rich("map." + run.task, goals)}</p>
                </section>
                {watched && <Figures say={say} watched={watched} now={past.at(-1)} block={block} />}
              </div>
              <div class="p4">
                <Cards say={say} memory={s.memory} open={s.open} runs={runs} onOpen={(open) => this.change({ open })}
                  onPredict={(card, option) => this.change((was) => ({ memory: predict(was.memory, card, option) }))} />
                <Runs say={say} runs={runs.map((each) => (each.id === run?.id ? run : each))} tasks={tasks} watched={run?.id ?? null} />
              </div>
            </div>
          </main>
          <p class="vh" role="status">{s.spoken}</p>
        </div>
      </div>
    ) as unknown as Child;
  }

  /** «7 − i» in pieces, as a sentence takes it. */
  private goal(task: string, rows: number) {
    const i = { text: "i", role: "i" };
    return task === "reverse" ? [{ text: `${rows - 1} − ` }, i] : task === "shift" ? [i, { text: " − 1" }] : [i];
  }

  private choices<T extends string | number>(say: Say, name: string, all: T[], now: T, choose: (x: T) => void, text: (x: T) => string) {
    return (
      <fieldset class="pair choices sans">
        <legend class="vh">{say.plain(name)}</legend>
        {all.map((x) => <label key={name + x}><input type="radio" name={this.id + name} checked={x === now} onChange={() => choose(x)} /><bdi>{text(x)}</bdi></label>)}
      </fieldset>
    );
  }
}
