import { arcs } from "../scene/arcs";
import type { Strand } from "../scene/across";
import { depthOf, type Model } from "./model";
import { word } from "./say";

/** The arcs or strands of one word, each with its own gradient: coral where it starts, ink where it lands. */
export const Arcs = ({ drawn, id }: { drawn: Strand[]; id: string }) => (
  <g>
    {drawn.map(({ column, gradient: { x1, y1, x2, y2, at } }) => (
      <linearGradient key={"g" + column} id={id + column} gradientUnits="userSpaceOnUse"
        x1={x1} y1={y1} x2={+(x1 + at * (x2 - x1)).toFixed(1)} y2={+(y1 + at * (y2 - y1)).toFixed(1)}>
        <stop stop-color="var(--coral)" /><stop offset="1" stop-color="var(--ink)" />
      </linearGradient>
    ))}
    {drawn.map(({ column, width, path }) => (
      <path key={column} d={path} stroke={`url(#${id + column})`} stroke-width={+width.toFixed(2)} />
    ))}
  </g>
);

/** Words as radio buttons under their arcs, each with its percentage and column, which are a button too. A mouse that
 *  rests on a word shows its look; a click keeps it. */
export const Picture = ({ m }: { m: Model }) => {
  const { state, row, look, weights, box, say, id } = m;
  const depth = depthOf(box);
  const ready = box.centres.length === state.words.length;
  const seen = look.allowed;
  return (
    <fieldset class={box.down ? "pic down" : "pic"} style={{ "--n": state.words.length, "--size": box.size + "px", "--depth": depth + "px" }}>
      <legend class="vh">{say.plain("words")}</legend>
      <svg class="arcs" aria-hidden="true">
        {ready && <Arcs id={id + "a"} drawn={arcs({
          centres: box.centres, weights, allowed: seen, chosen: row, size: box.down ? "phone" : "wide", depth, down: box.down,
        })} />}
      </svg>
      <div class="row" onPointerLeave={() => m.hover(null)}>
        {state.words.map((text, i) => (
          <label key={"w" + i} title={text.length > 14 ? text : undefined}
            class={"w" + (i === row ? " on" : i === m.pinned && seen[i] ? " pin" : "") + (seen[i] ? "" : " off")}
            onPointerEnter={(e) => e.pointerType === "mouse" && m.hover(i)}>
            <input class="vh" type="radio" name={id + "w"} checked={i === state.chosen}
              onChange={() => m.act({ type: "choose", row: i })} />
            <bdi dir="auto">{text}</bdi>
          </label>
        ))}
        {state.words.map((_, i) => (
          <button key={"n" + i} type="button" class="n" disabled={!seen[i]} aria-pressed={i === m.pinned}
            aria-label={say.plain(seen[i] ? "bar" : "masked", { p: say.percent(m.parts[i]), word: word(say, state.words, i) })}
            onClick={(e) => {
              // The percentage may be that of a word under the mouse: its sum is meant then.
              if (m.row !== state.chosen) m.act({ type: "choose", row: m.row });
              m.act({ type: "pin", column: m.row === state.chosen && i === state.pinned ? null : i });
              // On a phone the sum is a screen away.
              if (box.down) e.currentTarget.closest(".mirada")?.querySelector("#" + id + "sum")?.scrollIntoView({ block: "center" });
            }}>
            {seen[i] ? <span>{say.percent(m.parts[i])}</span> : <span class="hatch" />}
            {seen[i] && <i style={{ "--v": 100 * weights[i] }} />}
          </button>
        ))}
      </div>
    </fieldset>
  );
};

/** The words once more, small, on top of a phone's screen while the planes are dragged; for the eye only. */
export const Strip = ({ m, show }: { m: Model; show: boolean }) => (
  <div class="strip live" aria-hidden="true">
    <div class={show ? "show" : ""}>
      {m.state.words.map((text, i) => (
        <span class={"w" + (i === m.row ? " on" : i === m.pinned ? " pin" : "") + (m.look.allowed[i] ? "" : " off")}
          onClick={() => m.act({ type: "choose", row: i })}>
          <bdi dir="auto">{text}</bdi>{m.look.allowed[i] && <i style={{ "--v": 100 * m.weights[i] }} />}
        </span>
      ))}
    </div>
  </div>
);
