import { attribute, type Child, type Props } from "../views/jsx";

const SPACES: Record<string, string> = { svg: "http://www.w3.org/2000/svg", math: "http://www.w3.org/1998/Math/MathML" };
// What a person changes by acting: compared with the element itself, not with what was last drawn. Not `open`: the page
// learns of it a moment later, and would close what was just opened.
const ACTED = ["value", "checked"];
// JupyterLab takes the arrow keys from whatever has the focus, unless it says no.
const FOCUSED = ["a", "button", "input", "select", "summary"];
const before = new WeakMap<Element, Props>();

const set = (element: Element, name: string, value: unknown, was: unknown): void => {
  const it = element as unknown as Record<string, unknown>;
  if (ACTED.includes(name)) {
    if (it[name] !== value && String(it[name]) !== String(value)) it[name] = value;
  } else if (value === was && name !== "style") return;
  else if (name.startsWith("on")) it[name.toLowerCase()] = value ?? null;
  // Through the object model, which every policy allows; a style attribute would be refused.
  else if (name === "style") for (const [k, v] of Object.entries(value ?? {})) (element as HTMLElement).style.setProperty(k, String(v));
  else if (name !== "key") {
    const text = attribute(name, value);
    if (text === null) element.removeAttribute(name);
    else element.setAttribute(name, text);
  }
};

const become = (old: ChildNode | undefined, child: Child, space: string | null): ChildNode => {
  if (typeof child !== "object" || !child) {
    // What is not there leaves an empty text in its place, so that those after it are recognised.
    const text = child == null || typeof child === "boolean" ? "" : String(child);
    if (!(old instanceof Text)) return document.createTextNode(text);
    if (old.data !== text) old.data = text;
    return old;
  }
  const { tag, props, children } = child;
  const same = old instanceof Element && old.localName === tag && before.get(old)?.key === props.key;
  const element = same ? old : document.createElementNS(SPACES[tag] ?? space, tag);
  if (FOCUSED.includes(tag) || "tabIndex" in props) element.setAttribute("data-lm-suppress-shortcuts", "true");
  const was = before.get(element) ?? {};
  draw(element, children);
  for (const name of Object.keys({ ...was, ...props })) set(element, name, props[name], was[name]);
  before.set(element, props);
  return element;
};

/** Makes the children of `parent` what they should be, keeping every element that may stay: focus, scroll and what is
 *  held survive. Children are told apart by their place and, where they have one, their key. */
export const draw = (parent: Element, children: Child[]): void => {
  children.forEach((child, i) => {
    const old = parent.childNodes[i] as ChildNode | undefined;
    const now = become(old, child, parent.namespaceURI);
    if (!old) parent.append(now);
    else if (now !== old) old.replaceWith(now);
  });
  while (parent.childNodes.length > children.length) parent.lastChild!.remove();
};
