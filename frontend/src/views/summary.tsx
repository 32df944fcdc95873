import { summary } from "../scene/summary";
import { called, type Fillings } from "./say";
import type { Model } from "./model";

type Seen = Pick<Model, "scene" | "row" | "say">;

const filled = ({ scene, row, say }: Seen): [string, Fillings] => {
  const { key, chosen, looked, together } = summary(scene, row);
  const by: Fillings = { chosen: called(say, chosen, "c"), count: looked.length, together: say.percent(together) };
  looked.forEach((l, i) => {
    // «a «plata»», or «a sí misma».
    by[i] = l.self ? [{ text: say.plain("itself") }] : say.pieces("at", { word: called(say, l, "k") });
    by["p" + i] = say.percent(l.percent);
  });
  return ["summary." + key, by];
};

/** What is seen, in a sentence. */
export const Summary = ({ m }: { m: Model }) => <p class="sum">{m.say.rich(...filled(m))}</p>;

/** The same for the ear. */
export const summaryText = (seen: Seen): string => seen.say.plain(...filled(seen));
