import type { Opened } from "../../images/api";
import { numberText } from "../../scene/percent";
import type { Say } from "../say";

interface Props { say: Say; id: string; own: Opened | null; whole: boolean; reading: boolean; fault: string; onFile(file: File): void }

/** A picture of a person's own: chosen here; dropping and pasting work anywhere on the page. */
export const Own = ({ say, id, own, whole, reading, fault, onFile }: Props) => (
  <div class="own">
    <label class={own ? "btn sans" : "btn main sans"}>
      <input class="vh" type="file" accept="image/png,image/jpeg,image/webp,image/gif,image/bmp,image/tiff" aria-describedby={id + "own"}
        onChange={(e) => {
          const file = e.currentTarget.files?.[0];
          e.currentTarget.value = "";
          if (file) onFile(file);
        }} />
      {say.rich(own ? "own.other" : "own.choose")}
    </label>
    <div id={id + "own"}>
      {fault ? <p class="bad hint" role="alert">{fault}</p>
        : reading ? <p class="hint">{say.rich("own.reading")}</p>
        : own ? <p class="hint">{say.rich("own.size", { w: String(own.width), h: String(own.height) })} {own.notes.join(" ")} {!whole && say.rich("own.middle")}</p>
        : <p class="hint">{say.rich("own.hint")}</p>}
    </div>
  </div>
);

/** Megabytes as they are written: 23,4. */
export const megabytes = (bytes: number, say: Say): string => numberText(bytes / 1e6, say.language, 1);
