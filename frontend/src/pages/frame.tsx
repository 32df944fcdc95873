import type { ComponentChildren } from "preact";
import type { Say } from "../views/say";

interface Props { say: Say; here?: Page; dark: boolean; onLanguage(): void; onNight(): void }

/** The pages of the lab, by their addresses. */
const PAGES = ["words", "train", "images"] as const;
export type Page = (typeof PAGES)[number];

/** Which pages there are. What is no lab has one. still: without a script nothing else would carry the language on. */
export const Pages = ({ say, here = "words", still = "" }: { say: Say; here?: Page; still?: string }) =>
  LAB
    ? <nav>{PAGES.map((page) => <a href={page === here ? undefined : "/" + page + still} aria-current={page === here ? "page" : undefined}>{say.rich("page." + page)}</a>)}</nav>
    : <nav><a aria-current="page">{say.rich("page")}</a></nav>;

/** The head of every page: whose it is, the pages there are, language and night. */
export const Header = ({ say, here, dark, onLanguage, onNight }: Props) => {
  const other = say.language === "es" ? "en" : "es";
  return (
    <header>
      <b>Mirada</b>
      <Pages say={say} here={here} />
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
