import css from "live.css";
import type { Fault } from "../scene/fault";
import type { Language } from "../scene/percent";
import { valueFrame, type Frame } from "../scene/plane";
import { look } from "../scene/scene";
import { Compare } from "../views/compare";
import { Controls } from "../views/controls";
import { Map } from "../views/map";
import { modelOf, type Held, type Host, type Model } from "../views/model";
import type { Child } from "../views/jsx";
import { More, untyped, type Typed } from "../views/more";
import { Picture, Strip } from "../views/picture";
import { complain, sayIn } from "../views/say";
import { Formula, Sum } from "../views/sum";
import { Summary, summaryText } from "../views/summary";
import { Tasks } from "../views/tasks";
import { Values } from "../views/values";
import { fromLink, toLink } from "../words/permalink";
import { pinnedOf, reduce, sceneOf, start, type Action, type WordsState } from "../words/state";
import { answer, blank, observe, predict, tasks, type Memory } from "../words/tasks";
import { Header, Question } from "./frame";
import { draw } from "./draw";
import { measure } from "./measure";
import { recall, remember } from "./memory";
import { Sentences } from "./sentences";

export interface Options {
  language: Language;
  state?: WordsState;
  onState?(state: WordsState, language: Language): void;
  host: Host;
  token?: string;
  theme?: "light" | "dark";
}

interface State {
  words: WordsState;
  language: Language;
  memory: Memory;
  open: number;
  /** The word under the mouse. */
  over: number | null;
  held: Held | null;
  box: Model["box"];
  /** The sentence of one's own, as it was left. */
  own: WordsState | null;
  /** The sentence was switched at least once: the other one's output is worth showing. */
  both: boolean;
  theme: "light" | "dark" | null;
  fault: Fault | null;
  spoken: string;
  strip: boolean;
  typed: Typed;
}

const EASE = 180; // milliseconds, for widths and columns
/** Spain says dinero. A browser that names another country is not there. */
const spain = () => !/^es-(?!ES)/.test(navigator.language);
const SMOOTH: Action["type"][] = ["move", "temperature"]; // follow the hand, without easing

export class Words {
  private state: State;
  /** As it was when last drawn. */
  private before: State;
  private id = "mirada" + Math.random().toString(36).slice(2); // a notebook loads the script once for each widget
  private drawn: number[] = [];
  private tween: { from: number[]; since: number } | null = null;
  private ease = false;
  private frame?: Frame;
  private timers: Record<string, number> = {};
  private undo: (() => void)[] = [];

  constructor(private root: Element, private options: Options) {
    const { host, language, state, theme } = options;
    const linked = host === "widget" || location.hash.length < 2 ? null : fromLink(location.hash, language);
    const spoken = linked?.value?.language ?? language;
    this.before = this.state = {
      words: linked?.value?.state ?? state ?? start("money", spoken), language: spoken, memory: this.recalled(), open: 1, over: null, held: null,
      box: modelOf(start("money", spoken), spoken).box,
      own: null, both: false, theme: theme ?? (recall("theme") as State["theme"]), fault: linked?.fault ?? null, spoken: "", strip: false, typed: untyped,
    };
    this.draw();
    this.live();
  }

  private recalled(): Memory {
    try {
      return { ...blank, ...JSON.parse(recall("tasks") ?? "{}") };
    } catch {
      return blank;
    }
  }

  // ---- what is done to it

  act = (action: Action): void => this.change((s) => {
    const words = reduce(s.words, action, s.language);
    this.ease = !SMOOTH.includes(action.type);
    if (words === s.words) return null;
    return { words, both: s.both || (words.sentence !== s.words.sentence && words.sentence !== "own" && s.words.sentence !== "own"),
      own: words.sentence === "own" ? words : s.own, memory: observe(s.memory, words, s.language), over: null, fault: null };
  });

  /** From outside: Python, or whoever mounted the page. The words of the state are already in that language. */
  set(state: WordsState, language: Language = this.state.language): void {
    if (language !== this.state.language) this.change(() => ({ language }));
    if (JSON.stringify(state) !== JSON.stringify(this.state.words)) this.act({ type: "load", state });
  }

  private language(language: Language): void {
    this.change((s) => ({ language, words: reduce(s.words, { type: "language", language }, s.language) }));
  }

  private night = (dark: boolean): void => {
    const theme = dark ? "dark" : "light";
    remember("theme", theme);
    this.change(() => ({ theme }));
  };

  private predict = (step: string, option: string): void =>
    this.change((s) => ({ memory: observe(predict(s.memory, step, option), s.words, s.language) }));

  private fromAddress = (): void => {
    const { value, fault = null } = fromLink(location.hash, this.state.language);
    this.change((s) => ({ fault, words: fault ? start("money", s.language) : s.words }));
    if (value) this.set(value.state, value.language);
  };

  // ---- what it does in the page

  /** The next state; drawn once for all that changes in one go. */
  private change(next: (s: State) => Partial<State> | null): void {
    const old = this.state;
    this.state = { ...old, ...next(old) };
    if (old === this.before) queueMicrotask(() => this.draw());
  }

  private draw(): void {
    draw(this.root, [this.render(this.state)]);
    const before = this.before;
    this.before = this.state;
    if (before !== this.state) this.follow(before);
  }

  private later(name: string, milliseconds: number, job: () => void): void {
    clearTimeout(this.timers[name]);
    this.timers[name] = window.setTimeout(job, milliseconds);
  }

  private find = (selector: string): HTMLElement => this.root.querySelector(selector)!;

  private measured = (): void => {
    const box = measure(this.find(".mirada"));
    if (JSON.stringify(box) === JSON.stringify(this.state.box)) return;
    this.change(() => ({ box }));
    this.draw(); // before anybody sees it as it was
  };

  private live(): void {
    const listen = (event: string, job: () => void) => {
      addEventListener(event, job);
      this.undo.push(() => removeEventListener(event, job));
    };
    this.measured();
    const size = new ResizeObserver(this.measured);
    size.observe(this.find(".mirada"));
    const past = new IntersectionObserver(([e]) => this.change(() => ({ strip: !e.isIntersecting && e.boundingClientRect.top < 0 })));
    past.observe(this.find(".pic"));
    this.undo.push(() => size.disconnect(), () => past.disconnect());
    if (this.options.host !== "widget") listen("hashchange", this.fromAddress);
    this.document();
  }

  destroy(): void {
    for (const undo of this.undo) undo();
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    this.draw = () => {}; // what was still to be drawn
    this.root.textContent = "";
  }

  /** What a change brings along outside of the drawing. */
  private follow(before: State): void {
    const { words, language, memory, theme } = this.state;
    if (words.words !== before.words.words) this.measured();
    if (words !== before.words || language !== before.language) this.options.onState?.(words, language);
    if (words !== before.words || language !== before.language) this.later("link", 250, () => this.address());
    if (words !== before.words) this.later("speak", 700, () => this.speak(before.memory));
    if (memory !== before.memory) remember("tasks", JSON.stringify(memory));
    if (language !== before.language || theme !== before.theme) this.document();
  }

  /** Title, language and scroll bars of a page of our own; a notebook keeps its own. */
  private document(): void {
    if (this.options.host === "widget") return;
    const page = document.documentElement;
    page.lang = this.state.language;
    page.style.colorScheme = this.state.theme ?? "";
    document.title = sayIn(this.state.language).plain("title") + " · Mirada";
  }

  private link = (): string => {
    const link = toLink(this.state.words, this.state.language);
    return location.href.split("#")[0] + (link && "#" + link);
  };

  private address(): void {
    // A broken link stays where it is, so that whoever typed it can mend it.
    if (this.options.host !== "widget" && !this.state.fault) try {
      history.replaceState(null, "", this.link());
    } catch {
      // A frame without an address of its own.
    }
  }

  /** For a screen reader: what is seen now, after the answer to a task that was just done. */
  private speak(before: Memory): void {
    const { words, language, memory } = this.state;
    const say = sayIn(language);
    const steps = tasks(language).flatMap((task) => task.steps).filter((step) => memory.done[step.id] && !before.done[step.id]);
    this.change(() => ({ spoken: [...steps.flatMap((step) => answer(memory, step).map((key) => say.plain(key))),
      summaryText({ scene: sceneOf(words), row: words.chosen, say })].join(" ") }));
  }

  /** Weights on their way from what was drawn to what is true. */
  private weights(target: number[]): number[] {
    const still = !this.ease || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const key = String(target);
    if (key !== this.key) {
      this.tween = still || !this.key ? null : { from: this.drawn, since: performance.now() };
      this.key = key;
    }
    const t = this.tween ? Math.min((performance.now() - this.tween.since) / EASE, 1) : 1;
    if (t === 1) this.tween = null;
    else requestAnimationFrame(() => this.change(() => ({})));
    const k = 1 - (1 - t) ** 2;
    this.drawn = target.map((w, i) => (this.tween ? k * w + (1 - k) * (this.tween.from[i] ?? 0) : w));
    return this.drawn;
  }
  private key = "";

  private render({ words, language, memory, open, over, held, box, own, both, theme, fault, spoken, strip, typed }: State): Child {
    const { host, token } = this.options;
    const shown = over === null || over >= words.words.length ? words : { ...words, chosen: over, pinned: null };
    const m = modelOf(shown, language, {
      state: words, row: shown.chosen, host, id: this.id, box, held, live: true, pinned: pinnedOf(shown),
      weights: this.weights(look(sceneOf(shown), shown.chosen).weights),
      act: this.act,
      hover: (row) => {
        this.ease = true;
        this.change(() => ({ over: row }));
      },
      hold: (what) => this.change(() => ({ held: what })),
    });
    // The scale of the values does not change while one of them is in the hand.
    if (!held) this.frame = valueFrame(words.value, box.values);
    const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const Main = host === "widget" ? "div" : "main";
    const { say } = m;
    return (
      <div id={this.id} class={"mirada" + (this.ease ? " ease" : "")} lang={language} data-theme={theme ?? undefined}>
        <div class="page">
          <Header say={say} dark={dark} onNight={() => this.night(!dark)} onLanguage={() => {
            const other = language === "es" ? "en" : "es";
            remember("language", other);
            this.language(other);
          }} />
          <Main class="grid">
            <Strip m={m} show={strip} />
            <div class="a">
              <Question say={say} />
              {fault && <p class="bad hint" role="alert">{complain(say, fault)} {say.rich("link.broken")}</p>}
              <Sentences m={m} own={own && own.words} onOwn={() => own && this.act({ type: "load", state: own })} />
              <Picture m={m} />
              <Summary m={m} />
              <p class="hint">{say.rich("hint")} {words.sentence === "money" && spain() && say.rich("gloss")}</p>
              <Controls m={m} />
            </div>
            <div class="b">
              <Compare m={m} />
              <Sum m={m} />
              <Values m={m} frame={this.frame} both={both} />
              <Formula m={m} />
              <p class="fine wide">{say.rich("note")}</p>
            </div>
            <div class="t">
              <Tasks m={m} memory={memory} open={open} onOpen={(id) => this.change(() => ({ open: id }))} onPredict={this.predict} />
              <details class="more">
                <summary class="sans"><span>{say.rich("map")}</span></summary>
                <Map m={m} />
              </details>
              <More m={m} typed={typed} onType={(change) => this.change((s) => ({ typed: { ...s.typed, ...change } }))} link={host === "widget" ? "" : this.link()} token={token} />
            </div>
          </Main>
          <p class="vh" role="status">{spoken}</p>
        </div>
      </div>
    ) as unknown as Child;
  }
}

/** Puts the page into `root`, in the place of what stands there. */
export const mount = (root: Element, options: Options): Pick<Words, "set" | "destroy"> => {
  // A sheet of its own: policies that know only the document's style by its hash let it pass, and so does a shadow root.
  const place = root.getRootNode() as Document | ShadowRoot;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  place.adoptedStyleSheets = [...place.adoptedStyleSheets, sheet];
  root.textContent = "";
  const page = new Words(root, options);
  return {
    set: (state, language) => page.set(state, language),
    destroy: () => {
      page.destroy();
      place.adoptedStyleSheets = place.adoptedStyleSheets.filter((s) => s !== sheet);
    },
  };
};
