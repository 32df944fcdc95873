// Mean widths over the serifs that the page may meet, in hundredths of an em.
const WIDTHS = "a50b55c46d56e48f34g53h57i30j28k54l29m85n57o53p56q55r39s42t33u57v53w78x52y53z47";

/** The width of a text in em where it cannot be measured: an accent adds nothing, a capital is .72, what is not one of
 *  our letters .53, a sign of East Asia or an emoji 1. */
export const emOf = (text: string): number =>
  [...text.normalize("NFD").replace(/[\u0300-\u036f]/g, "")].reduce((sum, c) => {
    const at = /[a-z]/.test(c) ? WIDTHS.indexOf(c) : -1;
    return sum + (at >= 0 ? +WIDTHS.slice(at + 1, at + 3) : /[A-Z]/.test(c) ? 72 : c > "\u2e80" ? 100 : /[.,]/.test(c) ? 26 : 53);
  }, 0) / 100;
