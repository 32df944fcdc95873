import { bigText, numberText } from "../scene/percent";
import { sum } from "../scene/sum";
import { px } from "./labels";
import type { Model } from "./model";
import { word } from "./say";

/** Where the percentage of the pinned word comes from, step by step. */
export const Sum = ({ m }: { m: Model }) => {
  const { say, pinned, state, row } = m;
  if (pinned < 0) return null;
  const { language } = say;
  const s = sum(m.scene, row, pinned);
  const name = word(say, state.words, pinned, "k");
  const two = (x: number) => numberText(x, language);
  // A factor with a minus sign stands in brackets, as on paper.
  const factor = (x: number, role: string, first: boolean) => <span class={role}>{x < 0 && !first ? `(${say.number(x)})` : say.number(x)}</span>;
  const line = (label: preact.ComponentChildren, work: preact.ComponentChildren, result: string) =>
    <tr><th>{label}</th><td>{work}</td><td>{result}</td></tr>;
  // Where there is no room for both terms, the line ends before the plus.
  const terms = s.terms.map(({ query, key }, i) => [i > 0 && " +\u00a0", factor(query, "c", !i), "\u00a0·\u00a0", factor(key, "k", false)]);
  // Where each share begins, in per cents of the bar.
  const ends = [...s.shares, 0].map((_, i) => px(100 * s.shares.slice(0, i).reduce((a, w) => a + w, 0)));
  return (
    <section class="wide" id={m.live ? m.id + "sum" : undefined}>
      <h2>{say.rich("sum", { p: say.percent(m.parts[pinned] ?? 0), word: name })}</h2>
      {s.masked ? <p class="cap">{say.rich("sum.masked", { word: name })}</p> : [
        <table class="eq">
          <tbody>
            {line([say.rich("sum.product"), " ", <i class="c">q</i>, " · ", <i class="k">k</i>], terms, two(s.product))}
            {line([say.rich("sum.over"), " √2 · ", <i>T</i>], `${two(s.product)} / ${two(s.divisor)}`, two(s.score))}
            {line(say.rich("sum.exponential"), [<i>e</i>, <sup>{two(s.score - s.shift)}</sup>], bigText(s.exponential, language))}
            {line(say.rich("sum.share"), `${bigText(s.exponential, language)} / ${bigText(s.total, language)}`, say.percent(m.parts[pinned]))}
          </tbody>
        </table>,
        <svg class="stack" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          <path class="now" d={`M${ends[pinned]} 0V1H${ends[pinned + 1]}V0z`} />
          <path d={"M0 0V1H100V0z" + ends.map((x) => `M${x} 0V1`).join("")} />
        </svg>,
        <p class="cap">
          {say.rich(s.count > 1 ? "sum.total" : "sum.alone", { total: bigText(s.total, language), n: say.plain("counts").split(" ")[s.count - 1] })}
          {s.shift !== 0 && [" ", say.rich("sum.shift", { shift: two(s.shift) })]}
        </p>,
      ]}
    </section>
  );
};

/** The formula, and what each of its letters is here. */
export const Formula = ({ m: { say } }: { m: Model }) => (
  <section class="wide">
    <h2>{say.rich("formula")}</h2>
    <math display="block" class="formula">
      <mi>softmax</mi><mo>(</mo>
      <mfrac><mrow><mi class="c">Q</mi><msup><mi class="k">K</mi><mi class="up">T</mi></msup></mrow><msqrt><mi>d</mi></msqrt></mfrac>
      <mo>)</mo><mi>V</mi>
    </math>
    <p class="cap">{say.rich("formula.text")}</p>
  </section>
);
