import type { Say } from "../say";
import { saveCsv, savePng, saveSvg } from "./export";

interface Props { say: Say; id: string; link: string; own: boolean; told: string; csv: (() => string) | null; onTold(key: string): void }

/** What stands behind "more": the link, exports. */
export const More = ({ say, id, link, own, told, csv, onTold }: Props) => {
  const button = (key: string, go: (page: Element) => void) =>
    <button type="button" class="btn" disabled={!csv && key !== "link.copy"} onClick={(e) => go(e.currentTarget.closest(".mirada")!)}>{say.rich(key)}</button>;
  const copy = (page: Element): void => {
    const select = () => {
      page.querySelector<HTMLInputElement>("#" + id + "link")!.select();
      onTold("link.select");
    };
    // There is no clipboard on pages that came over plain http from another machine.
    if (navigator.clipboard) navigator.clipboard.writeText(link).then(() => onTold("link.copied"), select);
    else select();
  };
  return (
    <details class="more live">
      <summary class="sans"><span>{say.rich("more")}</span><span>{say.rich("alone")}</span></summary>
      <div class="form">
        <label class="sans" for={id + "link"}>{say.rich("link.label")}</label>
        <div class="line">
          <input type="text" id={id + "link"} readOnly value={link} onFocus={(e) => e.currentTarget.select()} />
          {button("link.copy", copy)}
        </div>
        {own && <p class="hint">{say.rich("link.own")}</p>}
      </div>
      <div class="form" role="group" aria-label={say.plain("export.label")}>
        <span class="sans">{say.rich("export.label")}</span>
        <div class="line">
          {button("export.svg", saveSvg)}
          {button("export.png", (page) => void savePng(page).catch(() => onTold("export.failed")))}
          {button("export.csv", () => saveCsv(csv!()))}
        </div>
        <p class="hint" role="status">{told && say.rich(told)}</p>
      </div>
    </details>
  );
};
