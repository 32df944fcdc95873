import { base64, MOST_BYTES, open, type Lookers, type Opened, type Seen } from "../images/api";
import { arrivals } from "../images/arrivals";
import { blocksOf, gazed, headsOf, viewed } from "../images/gaze";
import { decode } from "../images/pixels";
import { fromLink, startOf, toLink, type Shown, type Source } from "../images/state";
import { cellsOf, FULL, SIDE, type Point } from "../images/strokes";
import type { Language } from "../scene/percent";
import { at as path, call, Refused, type Lab, type Run, type Whole } from "../train/api";
import { shareText } from "../train/numbers";
import { atRest } from "../train/state";
import { follow, type Following, type Sent } from "../train/stream";
import { megabytes } from "../views/images/own";
import { isDigit, lookerOf, Screen, summary, type Acts, type State } from "../views/images/screen";
import type { Child } from "../views/jsx";
import { sayIn, type Say } from "../views/say";
import { draw } from "./draw";
import { dress, followWidth } from "./lab";
import { recall, remember } from "./memory";

export interface ImagesOptions { language: Language; token?: string }

const SLOW = 400; // milliseconds of waiting until it is said
const QUIET = 500; // milliseconds without a change until it is spoken
const SAMPLES: Partial<Record<Source, string>> = { china: "sample", flower: "flower" };

export class Images implements Acts {
  private state: State;
  private before: State;
  private id = "images";
  private drawing = 0;
  private following: Following | null = null;
  private speaking = 0;
  private heard = "";
  /** Something was asked and is not answered yet; something else is wanted meanwhile. */
  private asking = false;
  private wanted = false;
  private samples: Partial<Record<Source, string>> = {};
  /** A person's own picture, as it was given; and the one that is being read. */
  private opened: File | null = null;
  private opening: { file: File } | null = null;
  /** What is said to have gone wrong is that nobody could look. */
  private unseen = false;
  /** The choices of each source, kept while another one is looked at. */
  private kept: Partial<Record<Source, Shown>> = {};

  constructor(private root: Element, private options: ImagesOptions) {
    const given = fromLink(location.hash);
    this.before = this.state = {
      language: options.language, theme: recall("theme") as State["theme"], shown: given ?? startOf("china"), lookers: null, own: null, reading: false,
      dropping: false, sample: null, seen: null, by: null, values: null, strokes: [], at: 0, hovered: null, run: null, busy: false, looking: true,
      fault: given ? "" : sayIn(options.language).plain("fault.link"), ownFault: "", told: "", spoken: "", width: 704,
    };
    this.root.textContent = "";
    this.draw_();
    this.live();
  }

  private lab = (): Lab => ({ token: this.options.token, language: this.state.language });
  private say = (): Say => sayIn(this.state.language);

  // ---- what it does in the page

  /** The next state; drawn once for all that comes until the next frame. */
  change(next: Partial<State> | ((s: State) => Partial<State> | null)): void {
    this.state = { ...this.state, ...(typeof next === "function" ? next(this.state) : next) };
    if (!this.drawing) this.drawing = requestAnimationFrame(() => this.draw_());
  }

  private draw_(): void {
    this.drawing = 0;
    draw(this.root, [Screen({ s: this.state, id: this.id, acts: this }) as unknown as Child]);
    const before = this.before;
    this.before = this.state;
    if (before !== this.state) this.followed(before);
  }

  private live(): void {
    followWidth(this.root, (width) => width !== this.state.width && this.change({ width }));
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === toLink(this.state.shown)) return;
      const shown = fromLink(location.hash);
      this.change(shown ? { shown, fault: "", strokes: [], seen: null, sample: this.samples[shown.source] ?? null } : { fault: this.say().plain("fault.link") });
      void this.look();
    });
    arrivals({
      hovers: (dropping) => this.change({ dropping }),
      file: (file) => this.file(file),
      none: () => this.state.shown.source === "own" && this.change({ ownFault: this.say().plain("own.none") }),
    });
    this.document();
    void this.begin();
  }

  private document(): void {
    dress(this.state.language, this.state.theme, this.say().plain("title"));
  }

  /** What a change brings along outside of the drawing. */
  private followed(before: State): void {
    const { language, theme, shown, seen } = this.state;
    if (language !== before.language || theme !== before.theme) this.document();
    if (shown !== before.shown) {
      const link = toLink(shown);
      if (link !== location.hash.slice(1) && !this.state.fault) history.replaceState(null, "", link ? "#" + link : location.pathname + location.search);
    }
    if (shown !== before.shown || seen !== before.seen) this.speakSoon();
  }

  /** For a screen reader: what is looked at now, once nothing has changed for a while. Nothing at first. */
  private speakSoon(): void {
    clearTimeout(this.speaking);
    if (!this.heard) return void (this.heard = this.sentence());
    this.speaking = window.setTimeout(() => {
      const text = this.sentence();
      if (text && this.heard !== text) this.change({ spoken: this.heard = text });
    }, QUIET);
  }

  /** What is read and looked at; nothing until somebody looks. */
  private sentence(): string {
    const { shown, seen } = this.state;
    if (!seen) return "";
    const say = this.say();
    const { key, by } = summary(say, shown, seen, gazed(viewed(seen, shown), seen.tokens, shown.query));
    const best = seen.probabilities?.reduce((a, b) => (b.share > a.share ? b : a));
    const drawn = shown.cells.some((x) => x);
    const says = best && (!isDigit(this.state) || drawn) ? say.plain(isDigit(this.state) ? "digits.most" : "labels.most", { label: { text: best.label, role: "" }, p: shareText(best.share, say.language) }) + " " : "";
    return says + say.plain(key, by);
  }

  show(change: Partial<Shown>): void {
    const model = change.model !== undefined && change.model !== this.state.shown.model;
    this.change((s) => ({ shown: { ...s.shown, ...change }, hovered: null, told: "" }));
    if (model) void this.look();
  }

  source(source: Source): void {
    if (source === this.state.shown.source) return;
    this.kept[this.state.shown.source] = this.state.shown;
    this.change({ shown: this.kept[source] ?? startOf(source), sample: this.samples[source] ?? null, seen: null, values: null, hovered: null, fault: "", told: "" });
    void this.look();
  }

  draw(next: (strokes: Point[][]) => Point[][]): void {
    const strokes = next(this.state.strokes);
    if (strokes === this.state.strokes) return;
    this.change((s) => ({ strokes, shown: { ...s.shown, cells: cellsOf(strokes, 1) } }));
    void this.look();
  }

  ink(next: (cells: number[]) => number[]): void {
    this.change((s) => ({ strokes: [], shown: { ...s.shown, cells: next(s.shown.cells) } }));
    void this.look();
  }

  reset(): void {
    const { source, model, cells } = this.state.shown;
    this.change({ shown: { ...startOf(source), model, cells }, hovered: null });
  }

  night(dark: boolean): void {
    remember("theme", dark ? "dark" : "light");
    this.change({ theme: dark ? "dark" : "light" });
  }

  language(): void {
    const language = this.state.language === "es" ? "en" : "es";
    remember("language", language);
    this.change({ language, spoken: "", fault: "", ownFault: "" });
    this.heard = this.sentence(); // which is not spoken again in the other language
    const file = this.opening?.file ?? this.opened;
    if (file) this.file(file); // what the lab says of it stands in the other language
  }

  link(): string {
    const link = toLink(this.state.shown);
    return location.origin + location.pathname + "?lang=" + this.state.language + (link && "#" + link);
  }

  // ---- what it does with the lab

  private complaint(error: unknown): string {
    if (!(error instanceof Refused)) throw error;
    return error.message || this.say().plain(error.status ? "unknown" : "silent");
  }

  private async begin(): Promise<void> {
    try {
      const { source } = this.state.shown;
      if (SAMPLES[source]) await this.sample(source);
      await this.meet();
    } catch (error) {
      return this.change({ fault: this.complaint(error), looking: false });
    }
    await this.look();
  }

  /** Who can look; and, where the model of digits is learning, how far it is. */
  private async meet(): Promise<void> {
    const lookers = await call<Lookers>(this.lab(), "images/models");
    this.change({ lookers });
    if (lookers.digits) await this.watch(lookers.digits);
  }

  private async watch(id: string): Promise<void> {
    const run = await call<Whole>(this.lab(), path(id));
    this.change({ run });
    if (atRest(run)) return;
    this.following?.stop();
    this.following = follow(this.lab, id, String(run.event), {
      event: ({ event, data }: Sent) => {
        if (event === "line") this.change((s) => ({ run: s.run && { ...s.run, step: Math.max(s.run.step, (data as { step: number }).step), score: scored(s.run, data) } }));
        else if (event !== "maps") this.change({ run: data as Run });
        if (event === "end") void this.learnt(data as Run);
      },
      lost: (seconds) => this.change({ fault: seconds ? this.say().plain("silent") : "" }),
      refused: (error) => this.change({ fault: this.complaint(error) }),
    });
  }

  private async learnt(run: Run): Promise<void> {
    this.following = null;
    if (run.state !== "finished") return this.change({ spoken: this.say().plain("learn." + (run.state === "failed" ? "failed" : "paused"), { n: String(run.step), of: String(run.steps), why: run.error ?? "" }) });
    this.change({ spoken: this.say().plain("say.learnt", { p: shareText(run.score?.tokens, this.state.language) }) });
    try {
      await this.meet();
    } catch (error) {
      return this.change({ fault: this.complaint(error) });
    }
    await this.look();
  }

  learn(): void {
    this.change({ busy: true, fault: "" });
    void call<Run>(this.lab(), "images/digits", {})
      .then((run) => this.watch(run.id))
      .catch((error) => this.change({ fault: this.complaint(error) }))
      .finally(() => this.change({ busy: false }));
  }

  file(file: File): void {
    if (this.state.shown.source !== "own" && file !== this.opened) this.source("own");
    if (file.size > MOST_BYTES) return this.change({ ownFault: this.say().plain("own.large", { n: megabytes(file.size, this.say()) }) });
    const mine = this.opening = { file };
    /** Of several, the one that was given last is shown, whichever is read first. */
    const last = (next: Partial<State>) => {
      if (this.opening !== mine) return;
      this.opening = null;
      this.change({ ...next, reading: false });
    };
    this.change({ reading: true, ownFault: "" });
    void open(this.lab(), file)
      .then((own: Opened) => {
        if (this.opening !== mine) return;
        this.opened = file;
        last({ own, seen: this.state.shown.source === "own" ? null : this.state.seen });
        return this.look();
      })
      .catch((error) => last({ ownFault: this.complaint(error) }));
  }

  /** What the model makes of what is shown now. While one answer is awaited no other is asked for; what changed meanwhile
   *  is asked afterwards, so that the last one wins. */
  private async look(): Promise<void> {
    this.wanted = true;
    if (this.asking) return;
    this.asking = true;
    const slow = setTimeout(() => this.change({ looking: true }), SLOW);
    try {
      while (this.wanted) {
        this.wanted = false;
        await this.lookOnce().catch((error) => this.gone(error));
      }
    } catch (error) {
      this.unseen = true;
      this.change({ fault: this.complaint(error), seen: null, values: null }); // which was of something else
    } finally {
      clearTimeout(slow);
      this.asking = false;
      this.change({ looking: false });
    }
  }

  /** A run that was to look may have been deleted: then another one looks, or none does. */
  private async gone(error: unknown): Promise<void> {
    const asked = lookerOf(this.state);
    if (!(error instanceof Refused) || error.status !== 404 || !asked) throw error;
    await this.meet();
    if (lookerOf(this.state)?.id === asked.id) throw error; // it is there: something else is not
    this.change((s) => ({ seen: null, values: null, shown: { ...s.shown, model: null }, fault: this.say().plain("fault.gone") }));
    this.wanted = true;
  }

  private async lookOnce(): Promise<void> {
    const { shown, lookers } = this.state;
    const { source, cells } = shown;
    const looker = lookerOf(this.state);
    if (lookers && shown.model && looker?.id !== shown.model) this.change((s) => ({ shown: { ...s.shown, model: null }, fault: this.say().plain("fault.model") }));
    if (!looker) return;
    let seen: Seen;
    if (source === "digit") seen = await call<Seen>(this.lab(), "images/digit", { model: looker.id, cells });
    else {
      const picture = source === "own" ? this.state.own?.picture : await this.sample(source);
      if (!picture) return;
      seen = await call<Seen>(this.lab(), "images/look", { model: looker.id, picture });
    }
    const values = source === "digit" ? [Array.from({ length: SIDE }, (_, y) => cells.slice(y * SIDE, (y + 1) * SIDE).map((x) => x / FULL))] : await decode(seen.pixels, seen.channels);
    if (this.state.shown.source !== source) return void (this.wanted = true);
    // What was chosen may be more than this picture has.
    const [patches, blocks, heads] = [seen.grid[0] * seen.grid[1], blocksOf(seen), headsOf(seen)];
    const within = ({ query, block, head, ...rest }: Shown): Shown =>
      ({ ...rest, query: Math.min(query, patches - 1), block: Math.min(block, blocks - 1), head: head === null ? null : Math.min(head, heads - 1) });
    this.change((s) => ({ seen, values, by: looker.id, shown: within(s.shown), ...(this.unseen && { fault: "" }) }));
    this.unseen = false;
  }

  private async sample(source: Source): Promise<string> {
    const known = this.samples[source];
    if (known) return known;
    let answer: Response | undefined;
    try {
      answer = await fetch(`/images/${SAMPLES[source]}.png`);
    } catch {
      throw new Refused(0);
    }
    if (!answer.ok) throw new Refused(answer.status);
    const sample = this.samples[source] = await base64(await answer.blob());
    this.change((s) => (s.shown.source === source ? { sample } : null));
    return sample;
  }
}

/** The score of the newest examination. */
const scored = (run: Run, line: unknown): Run["score"] => {
  const { kind, loss = null, tokens = null, sequences = null } = line as { kind: string; loss?: number; tokens?: number; sequences?: number };
  return kind === "validation" ? { loss, tokens, sequences } : run.score;
};
