import type { ComponentChildren } from "preact";
import type { Say } from "../views/say";

interface Props { say: Say; dark: boolean; onLanguage(): void; onNight(): void }

/** The head of every page: whose it is, the pages there are, language and night. */
export const Header = ({ say, dark, onLanguage, onNight }: Props) => {
  const other = say.language === "es" ? "en" : "es";
  return (
    <header>
      <b>Mirada</b>
      <nav><a aria-current="page">{say.rich("page")}</a></nav>
      <span class="tools live">
        <a href={"?lang=" + other} lang={other} hreflang={other} class="sans"
          onClick={(e) => {
            if (e.ctrlKey || e.metaKey || e.shiftKey) return;
            e.preventDefault();
            onLanguage();
          }}>{say.rich("switch")}</a>
        <button onClick={onNight}>{say.rich(dark ? "day" : "night")}</button>
      </span>
    </header>
  );
};

/** A question, and what comes before the picture. */
export const Question = ({ say }: { say: Say }): ComponentChildren => [
  <h1>{say.rich("title")}</h1>,
  <p class="lead">{say.rich("lead", { bank: { text: say.plain("bank"), role: "c i" } })}</p>,
];
