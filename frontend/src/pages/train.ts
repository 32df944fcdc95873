import { at as path, call, Refused, type Answer, type Lab, type Run, type Task, type Whole } from "../train/api";
import { blank, observe, type Memory } from "../train/cards";
import { shareText } from "../train/numbers";
import { apply, atRest, known } from "../train/state";
import { follow, type Following, type Sent } from "../train/stream";
import { untried } from "../train/tried";
import type { Language } from "../scene/percent";
import type { Child } from "../views/jsx";
import { sayIn, type Say } from "../views/say";
import { choiceOf } from "../views/train/form";
import { Screen, type Acts, type State } from "../views/train/screen";
import { draw } from "./draw";
import { dress, followWidth } from "./lab";
import { recall, remember } from "./memory";

export interface TrainOptions { language: Language; token?: string }

const POLL = 3000; // milliseconds between two looks at the list of runs

export class Train implements Acts {
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
  change = (next: Partial<State> | ((s: State) => Partial<State> | null)): void => {
    this.state = { ...this.state, ...(typeof next === "function" ? next(this.state) : next) };
    if (!this.drawing) this.drawing = requestAnimationFrame(() => this.draw());
  };

  private draw(): void {
    this.drawing = 0;
    draw(this.root, [Screen({ s: this.state, id: this.id, acts: this }) as unknown as Child]);
    const before = this.before;
    this.before = this.state;
    if (before !== this.state) this.followed(before);
  }

  private live(): void {
    followWidth(this.root, (width) => width !== this.state.width && this.change({ width }));
    addEventListener("hashchange", () => this.fromAddress());
    document.addEventListener("visibilitychange", () => !document.hidden && this.poll());
    this.document();
    void this.begin();
  }

  private document(): void {
    dress(this.state.language, this.state.theme, this.say().plain("title"));
  }

  /** What a change brings along outside of the drawing. */
  private followed(before: State): void {
    const { language, theme, memory, watched, lost } = this.state;
    if (language !== before.language || theme !== before.theme) this.document();
    if (memory !== before.memory) remember("train", JSON.stringify(memory));
    if (watched && before.watched?.run.id === watched.run.id) this.tell(before.watched.run, watched.run);
    if (!lost !== !before.lost) this.speak(this.say().plain(lost ? "say.lost" : "say.back"));
    if (watched && atRest(watched.run) && watched.run.state === "finished" && watched.run.family !== "vision" && this.state.tried.of !== watched.run.id && !this.state.asking && !this.state.tried.fault) void this.ask();
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
    const { choice } = this.state;
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
        // What somebody chose while this came is theirs.
        ...(other && task && s.choice === choice && { choice: { ...choiceOf(task), ...run.options } }),
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

  start = (): void => void this.asked(async () => {
    const { task, positions, causal, epochs, d_model, heads, blocks, seed } = this.state.choice!;
    const options = { positions, causal, d_model, heads, blocks, seed, ...(epochs ? { epochs } : {}) };
    const run = await call<Run>(this.lab(), "runs", { task, options });
    this.speak(this.say().plain(run.state === "waiting" ? "say.waiting" : "say.start", { n: String(run.place ?? "") }));
    await this.watch(run.id);
    await this.poll();
  });

  command = (what: "pause" | "resume" | "cancel"): void => void this.asked(async () => {
    const { id } = this.state.watched!.run;
    const run = await call<Run>(this.lab(), path(id, "/" + what), {});
    this.change((s) => (s.watched?.run.id === id ? { watched: { ...s.watched, run } } : null));
    if (!atRest(run) && !this.following) this.listen(id);
    await this.poll();
  });

  ask = async (): Promise<void> => {
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

  reach = (): void => this.following?.now();

  night = (dark: boolean): void => {
    const theme = dark ? "dark" : "light";
    remember("theme", theme);
    this.change({ theme });
  };

  otherLanguage = (): void => {
    const language = this.state.language === "es" ? "en" : "es";
    remember("language", language);
    this.change({ language });
    void this.poll();
  };
}
