import type { ComponentChildren } from "preact";

// The page draws itself with the few lines here and in pages/draw.ts: Preact, whose types JSX borrows, would be a sixth
// of the exported file.

export type Props = Record<string, unknown> & { children?: ComponentChildren };

/** An element as it should be. Components are functions, called where they stand; they have no life of their own. */
export interface Drawn { tag: string; props: Props; children: Child[] }
export type Child = Drawn | string | number | boolean | null | undefined;

export const h = (tag: string | ((props: Props) => unknown), props: Props | null, ...children: unknown[]): unknown =>
  typeof tag === "function" ? tag({ ...props, children } as Props) : { tag, props: props ?? {}, children: children.flat(Infinity) };

/** What an attribute says as text; null where it does not stand. Booleans are words in aria-* and data-*. */
export const attribute = (name: string, value: unknown): string | null =>
  value == null || (value === false && name[4] !== "-") ? null : value === true && name[4] !== "-" ? "" : String(value);
