import type { Looker, Lookers, Opened, Seen } from "../../images/api";
import { toCsv } from "../../images/csv";
import { blocksOf, gazed, headsOf, most, viewed, type Gazed, type Table } from "../../images/gaze";
import type { Values } from "../../images/pixels";
import { SOURCES, type Shown, type Source } from "../../images/state";
import type { Point } from "../../images/strokes";
import { Header } from "../../pages/frame";
import type { Language } from "../../scene/percent";
import type { Run } from "../../train/api";
import { countText, shareText } from "../../train/numbers";
import type { Piece } from "../../scene/summary";
import { sayIn, type Say } from "../say";
import { Controls } from "./controls";
import { Learn } from "./learn";
import { Chances, Looked } from "./looked";
import { More } from "./more";
import { Own } from "./own";
import { Pad } from "./pad";
import { Picture, type Shot } from "./shot";
import { Vector } from "./vector";

export interface State {
  language: Language;
  theme: "light" | "dark" | null;
  shown: Shown;
  lookers: Lookers | null;
  /** A person's own picture, and whether one is being read. */
  own: Opened | null;
  reading: boolean;
  dropping: boolean;
  /** The sample that is shown, a PNG in base64; there before anybody has looked at it. */
  sample: string | null;
  /** What a model makes of what is shown, which of them it is, and its numbers. */
  seen: Seen | null;
  by: string | null;
  values: Values | null;
  /** The lines of a digit, as parts of the pad's side; none where it was inked cell by cell. */
  strokes: Point[][];
  at: number;
  hovered: number | null;
  /** The run that teaches the model of digits. */
  run: Run | null;
  busy: boolean;
  /** An answer is awaited for so long that it is said. */
  looking: boolean;
  fault: string;
  ownFault: string;
  told: string;
  spoken: string;
  width: number;
}

export interface Acts {
  change(next: Partial<State>): void;
  show(change: Partial<Shown>): void;
  source(source: Source): void;
  file(file: File): void;
  draw(next: (strokes: Point[][]) => Point[][]): void;
  ink(next: (cells: number[]) => number[]): void;
  learn(): void;
  night(dark: boolean): void;
  language(): void;
  reset(): void;
  link(): string;
}

const TALLEST = 620; // of a photograph, in pixels of the page
const PAD = 336;
const WHO: Partial<Record<Source, string>> = { china: "danielbuechele", flower: "vultilion" };

export const isDigit = ({ shown }: Pick<State, "shown">): boolean => shown.source === "digit";

/** Whether the model reads a picture from edge to edge, but for what an eye would not miss. */
const whole = (own: Opened | null, { grid: [rows, columns] }: Seen): boolean =>
  !own || Math.abs(Math.log((own.width * rows) / (own.height * columns))) < 0.15;

/** Those who can look at what is shown. */
export const lookersFor = ({ shown, lookers }: Pick<State, "shown" | "lookers">): Looker[] =>
  (lookers?.models ?? []).filter(({ kind }) => (kind === "digits") === isDigit({ shown }));

export const lookerOf = (s: Pick<State, "shown" | "lookers">): Looker | null => {
  const all = lookersFor(s);
  return all.find(({ id }) => id === s.shown.model) ?? all[0] ?? null;
};

/** What is looked at, in a sentence; null until somebody looks. */
export const summary = (say: Say, shown: Shown, seen: Seen, gaze: Gazed): { key: string; by: Record<string, Piece | Piece[] | string> } => {
  const [first, second] = most(gaze, 2);
  const query = gaze.cls === null ? Math.max(shown.query, 0) : shown.query;
  const through = shown.rollout;
  const name = (at: number, kind: string, role: string): Piece[] =>
    at === query && kind !== "who" && kind !== "reach" ? say.pieces((through ? "from" : "to") + ".self").map((p) => ({ ...p, role }))
      : say.pieces(kind + (at < 0 ? ".cls" : ".patch"), { n: { text: String(at), role } }).map((p) => (at < 0 ? { ...p, role } : p));
  const even = first.weight < 1.35 / seen.tokens.length;
  const target = through ? "from" : "to";
  return {
    key: through ? "sum.through" : even ? "sum.even" : "sum.most",
    by: {
      who: name(query, through ? "reach" : "who", "c"), a: name(first.at, target, "k"), b: second ? name(second.at, target, "") : "",
      p: shareText(first.weight, say.language), q: second ? shareText(second.weight, say.language) : "", n: String(Math.min(shown.block, blocksOf(seen) - 1) + 1),
    },
  };
};

/** The page as it is drawn. */
export const Screen = ({ s, id, acts }: { s: State; id: string; acts: Acts }) => {
  const say = sayIn(s.language);
  const { shown, seen, width } = s;
  const dark = s.theme ? s.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const digit = isDigit(s);
  const narrow = width < 536;
  const looker = lookerOf(s);
  const [rows, columns] = seen?.grid ?? (digit ? [4, 4] : [6, 10]);
  const shot: Shot = { png: digit ? null : seen?.pixels ?? s.sample ?? "", cells: shown.cells, rows, columns };
  const table: Table | null = seen && viewed(seen, shown);
  const at = s.hovered ?? shown.query;
  const gaze = seen && table && gazed(table, seen.tokens, at);
  const largest = digit ? Math.min(PAD, narrow ? width : (width - 32) / 2) : Math.min(width, (TALLEST * columns) / rows, narrow ? width : 88 * columns);
  const said = gaze && summary(say, { ...shown, query: at }, seen, gaze);
  const what = digit ? say.plain("reads") : say.plain(shown.source === "own" ? "own.alt" : "photo." + shown.source);
  const numbers = (seen?.channels ?? (digit ? 1 : 3)) * (seen?.patch ?? (digit ? 2 : 16)) ** 2;
  const waiting = digit && s.lookers && !looker;
  const blank = shown.cells.every((x) => !x);
  return (
    <div id={id} class={"mirada images" + (s.dropping ? " dropping" : "")} lang={s.language} data-theme={s.theme ?? undefined}>
      <div class="page">
        <Header say={say} here="images" dark={dark} onNight={() => acts.night(!dark)} onLanguage={() => acts.language()} />
        <main class="two">
          <div class="left">
            <div class="p1 wide-part">
              <h1>{say.rich("title")}</h1>
              <p class="lead">{say.rich("lead", { n: String(rows * columns), k: String(numbers) })}</p>
              <fieldset class="pair sources">
                <legend class="vh">{say.plain("sources")}</legend>
                {SOURCES.map((source) => (
                  <label key={source}><input type="radio" name={id + "source"} checked={source === shown.source} onChange={() => acts.source(source)} /><bdi>{say.rich("source." + source)}</bdi></label>
                ))}
              </fieldset>
              {s.fault && <p class="bad note" role="alert">{s.fault}</p>}
              {shown.source === "own" && <Own say={say} id={id} own={s.own} whole={!seen || whole(s.own, seen)} reading={s.reading} fault={s.ownFault} onFile={(file) => acts.file(file)} />}
              <div class={digit ? "desk" : "one"}>
                {digit && <Pad say={say} cells={shown.cells} strokes={s.strokes} side={largest} at={s.at} onStrokes={(x) => acts.draw(x)} onCells={(x) => acts.ink(x)} onAt={(x) => acts.change({ at: x })} />}
                {waiting ? <Learn say={say} run={s.run} busy={s.busy} onStart={() => acts.learn()} /> : (digit || shot.png) ? (
                  <section class="seen">
                    {digit && <div class="head"><h2>{say.rich("reads")}</h2></div>}
                    <Picture say={say} id={id} shot={shot} width={largest} alt={say.plain(rows === 1 ? "picture.row" : columns === 1 ? "picture.column" : "picture.of", { what, rows: String(rows), columns: String(columns) })}
                      tokens={seen?.tokens ?? null} table={table} query={shown.query} hovered={s.hovered}
                      onChoose={(query) => acts.show({ query })} onHover={(hovered) => acts.change({ hovered })} />
                  </section>
                ) : shown.source === "own" && !s.own ? "" : <div class="hold-shot" style={{ height: Math.round((largest * rows) / columns) + "px" }} />}
              </div>
              {seen?.probabilities && <Chances say={say} probabilities={seen.probabilities} digits={digit} blank={digit && blank} />}
              {said && <p class="sum">{say.rich(said.key, said.by)}</p>}
              {said ? <p class="hint">{s.looking ? say.rich("looking") : [<span class="mouse">{say.rich("choose")}</span>, <span class="finger">{say.rich("choose.touch")}</span>]}</p>
                : s.looking && !waiting && <p class="hint">{say.rich("looking")}</p>}
              {seen && <Controls say={say} id={id} shown={shown} blocks={blocksOf(seen)} heads={headsOf(seen)} onChange={(change) => acts.show(change)} onReset={() => acts.reset()} />}
              {looker && <Who say={say} id={id} looker={looker} all={lookersFor(s)} digit={digit} onModel={(model) => acts.show({ model })} />}
              {seen && <More say={say} id={id} link={acts.link()} own={shown.source === "own"} told={s.told} onTold={(told) => acts.change({ told })}
                csv={table && (() => toCsv(table, seen.tokens, columns, s.language))} />}
              {WHO[shown.source] && <p class="fine">{say.rich("credit", { who: WHO[shown.source]! })}</p>}
            </div>
          </div>
          <div class="right">
            <div class="p2">
              {seen && Vector({ say, shot, values: s.values, size: seen.patch, at: gaze?.cls === null ? Math.max(at, 0) : at })}
              {gaze && <Looked say={say} shot={shot} gaze={gaze} />}
            </div>
          </div>
        </main>
        <p class="vh" role="status">{s.spoken}</p>
      </div>
    </div>
  );
};

/** Who looks, and what it has learnt. */
const Who = ({ say, id, looker, all, digit, onModel }: { say: Say; id: string; looker: Looker; all: Looker[]; digit: boolean; onModel(model: string): void }) => {
  const name = ({ id, kind }: Looker) => (kind === "new" ? say.plain("model.new") : id);
  const by = { model: { text: looker.id, role: "" }, n: countText(looker.parameters ?? 0, say.language), p: shareText(looker.score, say.language) };
  return (
    <div class="who">
      {all.length > 1 && (
        <label class="sans wide-field"><span>{say.rich("model")}</span>
          <select aria-label={say.plain("model")} id={id + "model"} value={looker.id} onChange={(e) => onModel(e.currentTarget.value)}>
            {all.map((each) => <option key={each.id} value={each.id} selected={each.id === looker.id}>{name(each)}</option>)}
          </select>
        </label>
      )}
      <p class="cap">{say.rich("look." + looker.kind, by)} {!digit && looker.kind === "new" && say.rich("train.own")}</p>
    </div>
  );
};
