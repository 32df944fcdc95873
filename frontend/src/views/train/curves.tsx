import type { Line } from "../../train/api";
import { pathOf, place, pointsOf, ticks, valueAt, type Point, type Scale } from "../../train/curves";
import { lossText, shareText } from "../../train/numbers";
import { px } from "../labels";
import type { Say } from "../say";
import { LEFT } from "./strip";

interface Props { say: Say; metrics: Line[]; width: number; x: Scale; at: number; limit: number | null }

const RIGHT: Scale = { low: 0, high: 1, from: 116, to: 12 };
const HEIGHT = 276;

/** Two curves over the same steps: the share of the digits that come out right, and the loss. */
export const Curves = ({ say, metrics, width, x, at, limit }: Props) => {
  const right = pointsOf(metrics, "tokens");
  const loss = pointsOf(metrics, "loss");
  const highest = Math.max(2, ...loss.map(([, l]) => l).filter(Number.isFinite));
  const y: Scale = { low: 0, high: Math.ceil(highest * 2) / 2, from: 246, to: 156 };
  const [from, to] = [x.from, x.to];
  const { language } = say;
  const dot = (points: Point[], scale: Scale) => {
    const value = points.length ? valueAt(points, Math.min(at, points.at(-1)![0])) : null;
    return value !== null && <circle cx={px(place(x, Math.min(at, points.at(-1)![0])))} cy={px(place(scale, value))} r="4" />;
  };
  const accuracy = valueAt(right, at) ?? right.filter(([s]) => s <= at).at(-1)?.[1];
  const lost = valueAt(loss, at) ?? loss.at(-1)?.[1];
  return (
    <section aria-label={say.plain("curves")}>
      <svg class="curves sans" width={width} height={HEIGHT} role="img"
        aria-label={accuracy === undefined || lost === undefined ? say.plain("curves")
          : say.plain("curves.text", { n: String(at), right: shareText(accuracy, language), loss: lossText(lost, language) })}>
        <path class="grid-lines" d={[0.5, 1].map((v) => `M${from} ${px(place(RIGHT, v))}H${to}`).join("") + ticks(y.high, 3).slice(1).map((v) => `M${from} ${px(place(y, v))}H${to}`).join("")} />
        <path class="axes" d={`M${from} ${RIGHT.from}H${to}M${from} ${y.from}H${to}`} />
        <path class="cursor" d={`M${px(place(x, at))} 0V${y.from}`} />
        <g class="tick last">
          {[0, 0.5, 1].map((v) => <text x={LEFT - 10} y={px(place(RIGHT, v) + 4)}>{v === 1 ? say.percent(100) : 100 * v}</text>)}
          {ticks(y.high, 3).map((v) => <text x={LEFT - 10} y={px(place(y, v) + 4)}>{say.number(v)}</text>)}
        </g>
        <g class="tick">{ticks(x.high, width < 500 ? 4 : 8).map((v) => <text x={px(place(x, v))} y={HEIGHT - 12}>{v}</text>)}</g>
        {limit !== null && (
          <g class="limit">
            <path d={`M${from} ${px(place(RIGHT, limit))}H${to}`} />
            <text class="last" x={to} y={px(place(RIGHT, limit) - 7)}>{say.rich("limit", { p: shareText(limit, language) })}</text>
          </g>
        )}
        <path class="line" d={pathOf(right, x, RIGHT)} />
        <path class="line" d={pathOf(loss, x, y)} />
        {dot(right, RIGHT)}{dot(loss, y)}
        <text class="last" x={to} y={RIGHT.to + 20}>{say.rich("accuracy")}</text>
        <text class="last" x={to} y={y.to + 4}>{say.rich("loss")}</text>
      </svg>
    </section>
  );
};

/** What the curves are drawn from, for those who rather read. */
export const CurveTable = ({ say, metrics }: { say: Say; metrics: Line[] }) => {
  const { language } = say;
  const steps = [...new Set(metrics.map(({ step }) => step))];
  const line = (step: number, kind: Line["kind"]) => metrics.find((l) => l.step === step && l.kind === kind);
  const loss = (l?: Line) => (l ? lossText(l.loss, language) : "");
  const share = (s?: number | null) => (s === undefined ? "" : shareText(s, language));
  return (
    <details class="more">
      <summary class="sans"><span>{say.rich("table")}</span></summary>
      <div class="numbers" role="region" tabIndex={0} aria-label={say.plain("table")}>
        <table>
          <thead><tr>{["step", "learnt", "loss", "digits", "whole"].map((key) => <th scope="col">{say.rich("table." + key)}</th>)}</tr></thead>
          <tbody>
            {steps.map((step) => {
              const seen = line(step, "validation");
              return (
                <tr key={"s" + step}><th scope="row">{step}</th><td>{loss(line(step, "training"))}</td><td>{loss(seen)}</td><td>{share(seen?.tokens)}</td><td>{share(seen?.sequences)}</td></tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
};
