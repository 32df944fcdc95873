import { fromPixel, toPixel, type Frame, type Point } from "../scene/plane";
import { RANGE, STEP } from "../words/sentences";
import type { Held, Model } from "./model";
import { word } from "./say";

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

/** What can be dragged: a box of 44 px round a point, with two range inputs that only keys and screen readers meet.
 *  Arrows move both ways from either of them, ten steps with Shift. */
export const Handle = ({ m, which, index, frame }: Held & { m: Model; frame: Frame }) => {
  const at = m.state[which][index];
  const label = m.say.plain("handle." + which, { word: word(m.say, m.state.words, index) });
  const held = m.held?.which === which && m.held.index === index;
  const move = (to: Point) => m.act({ type: "move", which, index, to });
  const drag = (e: PointerEvent & { currentTarget: HTMLElement }) => {
    const place = e.currentTarget.parentElement!.getBoundingClientRect();
    const [x, y] = fromPixel(frame, [((e.clientX - place.left) / place.width) * frame.width, ((e.clientY - place.top) / place.height) * frame.height]);
    move([Math.min(Math.max(x, frame.x0), frame.x1), Math.min(Math.max(y, frame.y0), frame.y1)]);
  };
  const [left, top] = toPixel(frame, at);
  return (
    <div key={which + index} role="group" aria-label={label} class={"h " + which[0] + (held ? " drag" : "") + (which !== "query" && !m.look.allowed[index] ? " off" : "")} style={{ left: left + "px", top: top + "px" }}
      onPointerDown={(e) => {
        if (e.button) return;
        e.preventDefault();
        e.currentTarget.setPointerCapture(e.pointerId);
        m.hold({ which, index });
      }}
      onPointerMove={(e) => held && drag(e)}
      onLostPointerCapture={() => held && m.hold(null)}>
      {([0, 1] as const).map((axis) => (
        <input key={axis} type="range" class="vh" min={-RANGE} max={RANGE} step={STEP} value={at[axis]} tabIndex={-axis}
          aria-label={label + ", " + m.say.plain("axis." + axis)} aria-valuetext={m.say.number(at[axis])}
          aria-orientation={axis ? "vertical" : "horizontal"}
          onInput={(e) => move(at.map((x, i) => (i === axis ? +e.currentTarget.value : x)) as Point)}
          onKeyDown={(e) => {
            const step = ARROWS[e.key];
            if (!step || e.ctrlKey || e.metaKey || e.altKey) return;
            e.preventDefault();
            move(at.map((x, i) => x + step[i] * STEP * (e.shiftKey ? 10 : 1)) as Point);
            // The input whose number moved takes the focus, so that a screen reader says it.
            (e.currentTarget.parentElement!.children[step[0] ? 0 : 1] as HTMLElement).focus();
          }} />
      ))}
    </div>
  );
};
