import { Component } from "preact";
import type { Fault } from "../scene/fault";
import { bigText, readNumber } from "../scene/percent";
import { readOwn } from "../words/own";
import { PARTS, RANGE, type Part, type Vector } from "../words/sentences";
import { check } from "./check";
import { saveCsv, savePng, saveSvg } from "./export";
import type { Model } from "./model";
import { complain, word } from "./say";

interface Props { m: Model; link: string; token?: string }
interface State {
  typed: string; fault?: Fault;
  /** "query 6" and what was typed for its two numbers, as long as it is not theirs. */
  which: string; numbers: [string | null, string | null];
  told: string; checked: string;
}

/** What stands behind "more": a sentence of one's own, exact numbers, the link, exports, the library's own result. */
export class More extends Component<Props, State> {
  state: State = { typed: "", which: "", numbers: [null, null], told: "", checked: "" };

  render({ m, link, token }: Props, { typed, fault, which, numbers, told, checked }: State) {
    const { say, id } = m;
    const mine = { "data-lm-suppress-shortcuts": true };
    const button = (key: string, go: () => void) => <button type="button" class="btn" {...mine} onClick={go}>{say.rich(key)}</button>;
    const [part, at] = which ? which.split(" ") : ["query", String(m.row)];
    const index = Math.min(+at, m.state.words.length - 1);
    const vector = m.state[part as Part][index];
    const wrong = numbers.map((n) => (n === null ? undefined : readNumber(n, -RANGE, RANGE).fault));
    const type = (axis: number, text: string) => {
      this.setState({ which: part + " " + index, numbers: numbers.map((n, i) => (i === axis ? text : n)) as State["numbers"] });
      const read = readNumber(text, -RANGE, RANGE);
      if (!read.fault) m.act({ type: "move", which: part as Part, index, to: vector.map((x, i) => (i === axis ? read.value : x)) as Vector });
    };
    const use = (e: Event) => {
      e.preventDefault();
      const read = readOwn(typed);
      this.setState({ fault: read.fault });
      if (!read.fault) m.act({ type: "own", words: read.value });
    };
    const said = (name: string, content: preact.ComponentChildren, bad = true) =>
      <p id={id + name} class={bad ? "bad hint" : "hint"} role={bad ? "alert" : undefined}>{content}</p>;
    return (
      <details class="more live">
        <summary class="sans" {...mine}><span>{say.rich("more")}</span><span>{m.host !== "widget" && say.rich("alone")}</span></summary>
        <form class="form" onSubmit={use} noValidate>
          <label for={id + "own"}>{say.rich("own.label")}</label>
          <div class="line">
            <input type="text" id={id + "own"} dir="auto" autocomplete="off" value={typed} aria-invalid={!!fault} aria-describedby={id + "ownp"} {...mine}
              onInput={(e) => this.setState({ typed: e.currentTarget.value, fault: undefined })} />
            <button class="btn" {...mine}>{say.rich("own.use")}</button>
          </div>
          {said("ownp", fault ? complain(say, fault) : say.rich("own.note"), !!fault)}
        </form>
        <div class="form" role="group" aria-labelledby={id + "vec"}>
          <label for={id + "v"} id={id + "vec"}>{say.rich("vector.label")}</label>
          <div class="line">
            <select id={id + "v"} value={part + " " + index} {...mine} onChange={(e) => this.setState({ which: e.currentTarget.value, numbers: [null, null] })}>
              {PARTS.map((p) => m.state.words.map((_, i) =>
                <option value={p + " " + i}>{say.plain("handle." + p, { word: word(say, m.state.words, i) })}</option>))}
            </select>
            {vector.map((x, axis) => (
              <input type="text" class="num" inputMode="decimal" autocomplete="off" value={numbers[axis] ?? say.number(x)} {...mine}
                aria-label={say.plain("axis." + axis)} aria-invalid={!!wrong[axis]} aria-describedby={id + "num"}
                onInput={(e) => type(axis, e.currentTarget.value)}
                onBlur={() => !wrong[axis] && this.setState({ numbers: numbers.map((n, i) => (i === axis ? null : n)) as State["numbers"] })} />
            ))}
          </div>
          {said("num", (wrong[0] ?? wrong[1]) ? complain(say, (wrong[0] ?? wrong[1])!) : say.rich("vector.note"), !!(wrong[0] ?? wrong[1]))}
        </div>
        {m.host !== "widget" && (
          <div class="form">
            <label for={id + "link"}>{say.rich("link.label")}</label>
            <div class="line">
              <input type="text" id={id + "link"} readOnly value={link} {...mine} onFocus={(e) => e.currentTarget.select()} />
              {button("link.copy", () => this.copy(link))}
            </div>
            {said("copied", told && say.rich(told), false)}
          </div>
        )}
        <div class="form" role="group" aria-labelledby={id + "ex"}>
          <label id={id + "ex"}>{say.rich("export.label")}</label>
          <div class="line">
            {button("export.svg", () => saveSvg(m))}
            {button("export.png", () => savePng(m).catch(() => this.setState({ told: "export.failed" })))}
            {button("export.csv", () => saveCsv(m))}
            {m.host === "lab" && <a class="btn sans" href={"/export/words.html?lang=" + say.language} download {...mine}>{say.rich("export.page")}</a>}
          </div>
        </div>
        {m.host === "lab" && (
          <div class="form">
            <div class="line">{button("lab.check", () => this.check(m, token))}</div>
            <p class="hint" role="status">{checked}</p>
          </div>
        )}
      </details>
    );
  }

  copy(link: string) {
    const done = () => this.setState({ told: "link.copied" });
    const failed = () => {
      (document.getElementById(this.props.m.id + "link") as HTMLInputElement | null)?.select();
      this.setState({ told: "link.select" });
    };
    // Absent on pages that came over plain http from another host.
    navigator.clipboard ? navigator.clipboard.writeText(link).then(done, failed) : failed();
  }

  async check({ scene, say }: Model, token?: string) {
    const tell = (checked: string) => this.setState({ checked });
    tell(say.plain("lab.wait"));
    try {
      const result = await check(scene, say.language, token);
      tell(typeof result === "string" ? result : say.plain("lab.same", { d: { text: bigText(result, say.language), role: "" } }));
    } catch {
      tell(say.plain("lab.silent"));
    }
  }
}
