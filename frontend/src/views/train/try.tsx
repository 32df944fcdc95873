import { across } from "../../scene/across";
import { arcs } from "../../scene/arcs";
import { percents } from "../../scene/percent";
import { look, type Scene } from "../../scene/scene";
import type { Run, Task } from "../../train/api";
import { firstTwo, isCausal, isSelf, sceneOf, type Tried } from "../../train/tried";
import { Controls } from "../controls";
import { Map } from "../map";
import { modelOf, type Model } from "../model";
import { Arcs } from "../picture";
import type { Say } from "../say";
import { start } from "../../words/state";

interface Props { say: Say; id: string; run: Run; task: Task | undefined; tried: Tried; width: number; busy: boolean; onTry(change: Partial<Tried>): void; onAsk(): void }

const DEPTH = 176;
const BESIDE = 84; // what the rows are called, where there is room

/** A question of one's own, the answer, and whom each position looked at for it. */
export const Try = (props: Props) => {
  const { say, id, run, task, tried, busy, onTry, onAsk } = props;
  const scene = sceneOf(tried);
  return (
    <section class="try">
      <form class="ask" noValidate onSubmit={(e) => { e.preventDefault(); onAsk(); }}>
        <h2><label for={id + "ask"}>{say.rich("try")}</label></h2>
        <div class="line">
          <input id={id + "ask"} type="text" dir="auto" autocomplete="off" spellcheck={false} value={tried.text} aria-invalid={!!tried.fault} aria-describedby={id + "hint"}
            inputMode={run.family === "encoder" ? "numeric" : undefined}
            onInput={(e) => onTry({ text: e.currentTarget.value, fault: "" })} />
          <button class="btn" disabled={busy}>{say.rich("try.go")}</button>
        </div>
        <p id={id + "hint"} class={tried.fault ? "hint bad" : "hint"} role={tried.fault ? "alert" : undefined}>
          {tried.fault || say.rich("try.hint." + run.family, { q: { text: task?.question ?? "", role: "" } })}
        </p>
      </form>
      {scene && Shown({ ...props, scene })}
    </section>
  );
};

const Shown = ({ say, id, run, tried, width, onTry, scene }: Props & { scene: Scene }) => {
  const answer = tried.answer!;
  const self = isSelf(scene);
  const row = Math.min(tried.row, scene.rows.length - 1);
  const seen = look(scene, row);
  const parts = percents(seen.weights, seen.allowed);
  const [first, second] = firstTwo(seen);
  const narrow = width < 536;
  const beside = narrow ? 0 : BESIDE;
  const count = scene.columns.length;
  const longest = Math.max(...scene.columns.map((text) => text.length));
  // What was written stands over what is read, spread over the same width.
  const one = narrow ? 30 : 36;
  const inner = Math.max(width - beside, count * (longest > 1 ? 9 * longest + 14 : one), self ? 0 : one * scene.rows.length);
  const column = inner / count;
  const asker = inner / scene.rows.length;
  const centres = scene.columns.map((_, j) => beside + (j + 0.5) * column);
  // An encoder answers at each position, so that its answer can stand under the question.
  const out = run.family === "encoder" && [...answer.answer].length === count ? [...answer.answer] : null;
  const right = answer.right === null ? null : [...answer.right];
  const good = out && right ? out.filter((c, j) => c === right[j]).length : null;
  const size = Math.max(15, Math.min(44, column * 0.62, (1.5 * column) / longest));
  const state = { ...start("money", say.language), temperature: tried.temperature, causal: tried.causal ?? isCausal(tried.answer!.scenes[tried.scene].scene.masks ?? []) };
  const m = modelOf(state, say.language, {
    state: { ...state, words: scene.columns }, scene, row, live: true, id,
    act: (action) => {
      if (action.type === "temperature") onTry({ temperature: action.value });
      if (action.type === "causal") onTry({ causal: action.on });
      if (action.type === "reset") onTry({ temperature: 1, causal: null });
    },
  } as Partial<Model>);
  const token = (text: string, role: string) => ({ text: text === " " ? "␣" : text, role });
  const by = {
    i: { text: String(row), role: "c" }, j: { text: String(first), role: "k" }, k: { text: String(second), role: "k" },
    p: say.percent(parts[first]), q: second < 0 ? "" : say.percent(parts[second]), out: { text: out?.[row] ?? "", role: "" },
    row: token(scene.rows[row], "c"), column: token(scene.columns[first] ?? "", "k"), column2: token(scene.columns[second] ?? "", "k"),
  };
  const nearly = second < 0 || seen.weights[first] >= 0.8;
  const kind = first < 0 ? "look.nobody"
    : (out ? "try." : "look.") + (!nearly ? "most" : out && out[row] === scene.columns[first] ? "takes" : "nearly");
  const radio = (i: number, text: string, under: string) => (
    <label key={"t" + i} class={"w" + (i === row ? " on" : self && i === first ? " pin" : "") + (self && !seen.allowed[i] ? " off" : "")}>
      <input class="vh" type="radio" name={id + "row"} checked={i === row} aria-label={`${say.plain("try.at")} ${i}: ${text}`} onChange={() => onTry({ row: i })} />
      <bdi dir="auto">{text === " " ? "␣" : text}</bdi>{under && <small>{under}</small>}
    </label>
  );
  const name = (key: string) => beside > 0 && <span class="beside sans">{say.rich(key)}</span>;
  const strands = self
    ? arcs({ centres, weights: seen.weights, allowed: seen.allowed, chosen: row, size: narrow ? "phone" : "wide", depth: DEPTH })
    : across({ from: beside + (row + 0.5) * asker, centres, weights: seen.weights, allowed: seen.allowed, widest: narrow ? 22 : 34, depth: DEPTH });
  const cells = { "--n": count, "--w": column + "px", "--l": beside + "px", "--size": size + "px" };
  return (
    <div class="shown">
      <p class="answer">
        {!out && [<span class="sans">{say.rich("try.answer")}</span>, " ", <b>{answer.answer}</b>, " "]}
        <span class="cap">
          {right === null ? "" : good === null ? (answer.answer === answer.right ? say.rich("try.right") : say.rich("try.wrong", { right: { text: answer.right!, role: "" } }))
            : good === count ? say.rich("try.right") : say.rich("try.some", { n: good, of: count })}
        </span>
      </p>
      {answer.scenes.length > 1 && (
        <fieldset class="pair choices sans">
          <legend class="vh">{say.plain("try.heads")}</legend>
          {answer.scenes.map(({ block, head }, i) => (
            <label key={"h" + i}><input type="radio" name={id + "head"} checked={i === tried.scene} onChange={() => onTry({ scene: i })} />
              <bdi>{say.rich(run.blocks > 1 ? "head.block" : "head", { b: block + 1, n: head + 1 })}</bdi></label>
          ))}
        </fieldset>
      )}
      <div class="scroll" tabIndex={beside + inner > width + 1 ? 0 : undefined}>
        <fieldset class="tokens" style={cells}>
          <legend class="vh">{say.plain("try.rows")}</legend>
          {!self && <div class="cells askers" style={{ "--n": scene.rows.length, "--w": asker + "px" }}>{name("try.written")}{scene.rows.map((text, i) => radio(i, text, ""))}</div>}
          <svg class="arches" width={beside + inner} height={DEPTH + 8} aria-hidden="true">
            <Arcs id={id + "try"} drawn={strands} />
          </svg>
          <div class="cells">{name("try.in")}{scene.columns.map((text, i) => (self ? radio(i, text, "") : <span class={"w" + (i === first ? " pin" : "") + (seen.allowed[i] ? "" : " off")}><bdi dir="auto">{text === " " ? "␣" : text}</bdi></span>))}</div>
          <div class="cells bar sans">{beside > 0 && <span />}{scene.columns.map((_, j) => (
            <span key={"p" + j} class={j === first ? "most" : undefined}>
              {seen.allowed[j] ? <span>{say.percent(parts[j])}</span> : <span class="hatch"><span class="vh">{say.plain("map.masked")}</span></span>}
              {seen.allowed[j] && <i style={{ "--v": 100 * seen.weights[j] }} />}
            </span>
          ))}</div>
          {out && <div class="cells out-row">{name("try.out")}{out.map((text, j) => (
            <span key={"o" + j} class={(j === row ? "on" : "") + (right && right[j] !== text ? " wrong" : "")}>{text}</span>
          ))}</div>}
          <div class="cells index sans">{name("try.at")}{scene.columns.map((_, j) => <span>{j}</span>)}</div>
        </fieldset>
      </div>
      <p class="sum">{say.rich(kind, by)}</p>
      <p class="hint">{say.rich("try.choose")} {say.rich("try.only")}</p>
      <Controls m={m} />
      <details class="more">
        <summary class="sans"><span>{say.rich("try.map")}</span></summary>
        <Map m={m} />
      </details>
    </div>
  );
};
