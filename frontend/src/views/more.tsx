import type { Fault } from "../scene/fault";
import { bigText, readNumber } from "../scene/percent";
import { readOwn } from "../words/own";
import { PARTS, RANGE, type Part, type Vector } from "../words/sentences";
import { check } from "./check";
import { saveCsv, savePng, saveSvg } from "./export";
import type { Model } from "./model";
import { complain, word } from "./say";

/** What was typed and told behind "more". */
export interface Typed {
  own: string;
  ownFault?: Fault;
  /** "query 6", and what was typed for its two numbers where that is not what they are. */
  vector: string;
  numbers: (string | undefined)[];
  /** How copying and drawing went: a key of the catalogue. */
  told?: string;
  /** What the library said. */
  checked?: string;
}

export const untyped: Typed = { own: "", vector: "", numbers: [] };

interface Props { m: Model; typed: Typed; onType(change: Partial<Typed>): void; link: string; token?: string }

/** One vector, chosen from all and typed as numbers; what is not a number stays as it was typed, with a sentence. */
const Exact = ({ m, typed: { vector, numbers }, onType }: Props) => {
  const { say, id, state } = m;
  const [part, at] = (vector || "query " + m.row).split(" ");
  const which = part as Part;
  const index = Math.min(+at, state.words.length - 1);
  const now = state[which][index];
  const faults = now.map((_, axis) => (numbers[axis] === undefined ? undefined : readNumber(numbers[axis], -RANGE, RANGE).fault));
  const fault = faults.find(Boolean);
  const keep = (axis: number, text?: string) => now.map((_, i) => (i === axis ? text : numbers[i]));
  return (
    <div class="form">
      <label class="sans" for={id + "vector"}>{say.rich("vector.label")}</label>
      <div class="line">
        <select id={id + "vector"} value={which + " " + index} onChange={(e) => onType({ vector: e.currentTarget.value, numbers: [] })}>
          {PARTS.map((p) => state.words.map((_, i) =>
            <option value={p + " " + i}>{say.plain("handle." + p, { word: word(say, state.words, i) })}</option>))}
        </select>
        {now.map((x, axis) => (
          <input type="text" class="num" inputMode="decimal" autocomplete="off" value={numbers[axis] ?? say.number(x)}
            aria-label={say.plain("axis." + axis)} aria-invalid={!!faults[axis]} aria-describedby={id + "exact"}
            onInput={(e) => {
              const { value } = e.currentTarget;
              onType({ vector: which + " " + index, numbers: keep(axis, value) });
              const read = readNumber(value, -RANGE, RANGE);
              if (!read.fault) m.act({ type: "move", which, index, to: now.map((y, i) => (i === axis ? read.value : y)) as Vector });
            }}
            onBlur={() => !faults[axis] && onType({ numbers: keep(axis) })} />
        ))}
      </div>
      <p id={id + "exact"} class={fault ? "hint bad" : "hint"} role={fault && "alert"}>{fault ? complain(say, fault) : say.rich("vector.note")}</p>
    </div>
  );
};

/** The scene once more, computed by the library; only the lab has it. */
const Check = ({ m: { say, scene }, onType, token }: Props) => {
  const ask = (): void => {
    onType({ checked: say.plain("lab.wait") });
    check(scene, say.language, token).then(
      (result) => onType({ checked: typeof result === "string" ? result : say.plain("lab.same", { d: bigText(result, say.language) }) }),
      () => onType({ checked: say.plain("lab.silent") }));
  };
  return <button class="btn" onClick={ask}>{say.rich("lab.check")}</button>;
};

/** What stands behind "more": a sentence of one's own, exact numbers, the link, exports, the library's own result. */
export const More = (props: Props) => {
  const { m, typed: { own, ownFault, told, checked }, onType, link } = props;
  const { say, id, host } = m;
  const button = (key: string, go: (page: Element) => void) =>
    <button class="btn" onClick={(e) => go(e.currentTarget.closest(".mirada")!)}>{say.rich(key)}</button>;
  const copy = (page: Element): void => {
    const select = () => {
      page.querySelector<HTMLInputElement>("#" + id + "link")!.select();
      onType({ told: "link.select" });
    };
    // There is no clipboard on pages that came over plain http from another machine.
    if (navigator.clipboard) navigator.clipboard.writeText(link).then(() => onType({ told: "link.copied" }), select);
    else select();
  };
  return (
    <details class="more live">
      <summary class="sans"><span>{say.rich("more")}</span><span>{host !== "widget" && say.rich("alone")}</span></summary>
      <form class="form" noValidate onSubmit={(e) => {
        e.preventDefault();
        const read = readOwn(own);
        onType({ ownFault: read.fault, vector: "", numbers: [] });
        if (!read.fault) m.act({ type: "own", words: read.value });
      }}>
        <label class="sans" for={id + "own"}>{say.rich("own.label")}</label>
        <div class="line">
          <input type="text" id={id + "own"} dir="auto" autocomplete="off" value={own} aria-invalid={!!ownFault} aria-describedby={id + "told"}
            onInput={(e) => onType({ own: e.currentTarget.value, ownFault: undefined })} />
          <button class="btn">{say.rich("own.use")}</button>
        </div>
        <p id={id + "told"} class={ownFault ? "hint bad" : "hint"} role={ownFault && "alert"}>{ownFault ? complain(say, ownFault) : say.rich("own.note")}</p>
      </form>
      {Exact(props)}
      {host !== "widget" && (
        <div class="form">
          <label class="sans" for={id + "link"}>{say.rich("link.label")}</label>
          <div class="line">
            <input type="text" id={id + "link"} readOnly value={link} onFocus={(e) => e.currentTarget.select()} />
            {button("link.copy", copy)}
          </div>
        </div>
      )}
      <div class="form" role="group" aria-label={say.plain("export.label")}>
        <span class="sans">{say.rich("export.label")}</span>
        <div class="line">
          {button("export.svg", (page) => saveSvg(m, page))}
          {button("export.png", (page) => savePng(m, page).catch(() => onType({ told: "export.failed" })))}
          {button("export.csv", () => saveCsv(m))}
          {LAB && <a class="btn sans" href={"/export/words.html?lang=" + say.language} download>{say.rich("export.page")}</a>}
          {LAB && Check(props)}
        </div>
        <p class="hint" role="status">{checked ?? (told && say.rich(told))}</p>
      </div>
    </details>
  );
};
