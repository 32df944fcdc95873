import { attribute, type Child } from "../views/jsx";

const EMPTY = ["img", "input", "path", "circle", "rect", "stop", "use"];

const escape = (text: string): string => text.replace(/[&<"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", '"': "&quot;" })[c]!);

/** Markup of what is drawn. Events need a script and are left out; so must be style attributes, which a policy refuses. */
export const markup = (child: Child): string => {
  if (child == null || typeof child === "boolean") return "";
  if (typeof child !== "object") return escape(String(child));
  const { tag, props, children } = child;
  const attributes = Object.entries(props).map(([name, value]) => {
    const text = typeof value === "function" || name === "key" ? null : attribute(name, value);
    return text === null ? "" : ` ${name}="${escape(text)}"`;
  }).join("");
  return EMPTY.includes(tag) ? `<${tag}${attributes}/>` : `<${tag}${attributes}>${children.map(markup).join("")}</${tag}>`;
};
