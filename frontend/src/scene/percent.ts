import type { Fault, Result } from "./fault";

export type Language = "es" | "en";

/** Whole per cents that sum to exactly 100 (a row that sums to less, to what it sums to), each less than one away from
 *  the true share: rounded down, then the largest remainders up. null: masked, no number is shown. 0: exists, and is
 *  shown as "<1 %"; it counts for nothing in the sum. */
export const percents = (weights: number[], allowed?: boolean[]): (number | null)[] => {
  const parts = weights.map((w) => Math.floor(w * 100));
  const order = weights.map((_, i) => i).filter((i) => !allowed || allowed[i]);
  // Half a per cent and more first, so that what is tiny stays "<1 %" wherever the sum allows it.
  const rest = (i: number) => weights[i] * 100 - parts[i] + (weights[i] < 0.005 ? 0 : 1);
  order.sort((a, b) => rest(b) - rest(a) || weights[b] - weights[a] || a - b);
  const missing = Math.round(100 * order.reduce((a, i) => a + weights[i], 0)) - parts.reduce((a, b) => a + b, 0);
  for (const i of order.slice(0, missing)) parts[i]++;
  return parts.map((p, i) => (!allowed || allowed[i] ? p : null));
};

/** "61 %" (es, with U+202F), "61%" (en); "<1 %" for 0; "" for null (masked). */
export const percentText = (percent: number | null, language: Language): string =>
  percent === null ? "" : (percent ? percent : "<1") + (language === "es" ? "\u202f%" : "%");

const localised = (text: string, language: Language) =>
  text.replace("-", "\u2212").replace(".", language === "es" ? "," : ".");

/** 1,78 / 1.78, with U+2212 as minus sign and never a negative zero. */
export const numberText = (x: number, language: Language, decimals = 2): string =>
  localised(x.toFixed(decimals).replace(/^-([0.]*)$/, "$1"), language);

/** As short as it can be: 0,9 / 2 / 0,25. At most `decimals` places. */
export const shortText = (x: number, language: Language, decimals = 2): string =>
  localised(String(+x.toFixed(decimals) || 0), language);

/** For exponentials, of any size: 5,94 / 162755 / 0,0067 / 2,6·10¹⁵³. */
export const bigText = (x: number, language: Language): string => {
  if (!x || (x >= 0.01 && x < 1e6)) return numberText(x, language, x < 1000 ? 2 : 0);
  if (x < 0.01 && x >= 1e-4) return localised(x.toPrecision(2), language);
  const [digits, power] = x.toExponential(1).split("e");
  const raised = [...String(+power)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+c])).join("");
  return localised(digits, language) + "·10" + raised;
};

/** The number in what was typed; comma or point, "-" or U+2212. The bounds are part of what is allowed. */
export const readNumber = (typed: string, low: number, high: number): Result<number> => {
  const text = typed.trim().replace("\u2212", "-").replace(",", ".");
  const bad = (fault: Fault) => ({ fault });
  if (!text) return bad({ code: "number.empty" });
  if (!/^[-+]?(\d+\.?\d*|\.\d+)$/.test(text)) return bad({ code: "number.nan", got: typed.trim() });
  const x = +text;
  return x < low || x > high ? bad({ code: "number.range", got: typed.trim(), low, high }) : { value: x || 0 };
};
