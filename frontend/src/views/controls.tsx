import { shortText } from "../scene/percent";
import type { Model } from "./model";

// Twenty steps a decade: T takes values that can be read (0.1, 0.11, 0.13 … 8.9, 10).
const STEPS = 20;
const toStep = (temperature: number): number => Math.round(STEPS * Math.log10(temperature));
const toTemperature = (step: number): number => +(10 ** (step / STEPS)).toPrecision(2);

const icon = (widths: number[], stroke: number) => (
  <svg width="24" height="14" aria-hidden="true">
    {widths.map((w) => <path d={`M${22 - w} 14C${22 - w * 0.8} ${13 - w * 0.8} ${22 - w * 0.2} ${13 - w * 0.8} 22 14`} stroke-width={stroke} />)}
  </svg>
);

/** Temperature, mask, back to the start. */
export const Controls = ({ m: { state, say, act } }: { m: Model }) => {
  const now = "T = " + shortText(state.temperature, say.language, 2);
  return (
    <div class="ctl sans live">
      <div class="temp">
        <label><span>{say.rich("temperature")}</span><b>{now}</b>
          <input type="range" min={-STEPS} max={STEPS} value={toStep(state.temperature)} aria-label={say.plain("temperature")}
            aria-valuetext={now}
            onInput={(e) => act({ type: "temperature", value: toTemperature(+e.currentTarget.value) })} />
        </label>
        <div><small>{icon([18], 4)} {say.rich("focuses")}</small><small>{say.rich("spreads")} {icon([20, 15, 10, 5], 1.2)}</small></div>
      </div>
      <label class="swi">
        <input type="checkbox" role="switch" checked={state.causal}
          onChange={(e) => act({ type: "causal", on: e.currentTarget.checked })} />
        <span>{say.rich("causal")}</span><small>{say.rich("causal.hint")}</small>
      </label>
      <button class="btn" onClick={() => act({ type: "reset" })}>{say.rich("reset")}</button>
    </div>
  );
};
