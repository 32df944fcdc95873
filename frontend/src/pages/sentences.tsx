import { ids, texts, type Given } from "../words/sentences";
import type { Model } from "../views/model";

const Phrase = ({ m, id }: { m: Model; id: Given }) => {
  const names = ids(id, m.say.language);
  return texts(id, m.say.language).map((word, i) => [i > 0 && " ", names[i] === "banco" ? <span class="c">{word}</span> : word]);
};

/** Which sentence looks: the two that share a word, and one's own once there is one. */
export const Sentences = ({ m, own, onOwn }: { m: Model; own: string[] | null; onOwn(): void }) => {
  const { state, say, act, id } = m;
  const radio = (which: string, choose: () => void, text: preact.ComponentChildren) => (
    <label>
      <input type="radio" name={id + "s"} checked={state.sentence === which} onChange={choose} />
      <bdi>{text}</bdi>
    </label>
  );
  return (
    <fieldset class="pair">
      <legend class="vh">{say.plain("sentences")}</legend>
      {(["money", "seat"] as const).map((given) => radio(given, () => act({ type: "sentence", id: given }), <Phrase m={m} id={given} />))}
      {own && radio("own", onOwn, own.join(" "))}
    </fieldset>
  );
};
