import { numberText, type Language } from "../scene/percent";

/** 13 674 / 13,674: groups of three, from five digits on in Spanish. */
export const countText = (n: number, language: Language): string =>
  String(n).length < 5 && language === "es" ? String(n) : String(n).replace(/\B(?=(\d{3})+$)/g, language === "es" ? "\u202f" : ",");

/** 31,7 % / 31.7%: a share with one decimal; never 100,0 unless it is all; a dash where there is none. */
export const shareText = (share: number | null | undefined, language: Language): string => {
  if (typeof share !== "number") return "–";
  const shown = share < 1 ? Math.min(share, 0.999) : 1;
  return numberText(100 * shown, language, 1) + (language === "es" ? "\u202f%" : "%");
};

/** 0,081: a loss with three decimals; a dash where it is no number. */
export const lossText = (loss: number | null | undefined, language: Language): string =>
  typeof loss === "number" ? numberText(loss, language, 3) : "–";
