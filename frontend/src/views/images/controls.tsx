import type { Shown } from "../../images/state";
import { shortText } from "../../scene/percent";
import type { Say } from "../say";

// Twenty steps a decade: T takes values that can be read (0.1, 0.11, 0.13 … 8.9, 10).
const STEPS = 20;
const toStep = (temperature: number): number => Math.round(STEPS * Math.log10(temperature));
const toTemperature = (step: number): number => +(10 ** (step / STEPS)).toPrecision(2);

interface Props { say: Say; id: string; shown: Shown; blocks: number; heads: number; onChange(change: Partial<Shown>): void; onReset(): void }

/** Which block, which head, through all of them; temperature; back to the start. */
export const Controls = ({ say, id, shown, blocks, heads, onChange, onReset }: Props) => {
  const now = "T = " + shortText(shown.temperature, say.language);
  const radios = <T extends number | null>(name: string, title: string, all: T[], at: T, text: (x: T) => string, choose: (x: T) => void, off = false) => (
    <fieldset class="choice sans" disabled={off}>
      <legend>{title}</legend>
      {all.map((x) => (
        <label key={name + x}><input type="radio" name={id + name} checked={x === at} onChange={() => choose(x)} /><span>{text(x)}</span></label>
      ))}
    </fieldset>
  );
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
  const block = Math.min(shown.block, blocks - 1);
  const head = shown.head === null || shown.rollout ? null : Math.min(shown.head, heads - 1);
  return (
    <div class="look-at live">
      <div class="picks">
        {radios("block", say.plain(shown.rollout ? "upto" : "block"), numbers(blocks), block, (b) => String(b + 1), (b) => onChange({ block: b }))}
        {radios<number | null>("head", say.plain("head"), [null, ...numbers(heads)], head, (h) => (h === null ? say.plain("head.mean") : String(h + 1)), (h) => onChange({ head: h }), shown.rollout)}
      </div>
      <div class="ctl sans">
        <div class="temp">
          <label><span>{say.rich("temperature")}</span><b>{now}</b>
            <input type="range" min={-STEPS} max={STEPS} value={toStep(shown.temperature)} aria-label={say.plain("temperature")} aria-valuetext={now}
              onInput={(e) => onChange({ temperature: toTemperature(+e.currentTarget.value) })} />
          </label>
          <div><small>{say.rich("focuses")}</small><small>{say.rich("spreads")}</small></div>
        </div>
        <label class="swi">
          <input type="checkbox" role="switch" checked={shown.rollout} onChange={(e) => onChange({ rollout: e.currentTarget.checked, ...(e.currentTarget.checked && { block: blocks - 1 }) })} />
          <span>{say.rich("through")}</span><small>{say.rich("through.hint")}</small>
        </label>
        <button type="button" class="btn" onClick={onReset}>{say.rich("reset")}</button>
      </div>
    </div>
  );
};
