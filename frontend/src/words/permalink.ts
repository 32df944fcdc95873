import type { Result } from "../scene/fault";
import type { Language } from "../scene/percent";
import type { WordsState } from "./state";

/** The fragment (without #) that leads back to a state: only what differs from its start, e.g.
 *  `l=es&w=5&t=0.5&c=1&q6=1,2`; "" for the start itself. */
export const toLink = (_state: WordsState, _language: Language): string => "";

/** What a fragment (with or without #) says, or what is broken in it. "" is the start in the reader's own language. */
export const fromLink = (_fragment: string, _language: Language): Result<{ state: WordsState; language: Language }> =>
  ({ fault: { code: "link.version" } });
