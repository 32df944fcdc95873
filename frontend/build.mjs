// Builds the page into src/mirada/static/: words.js, words.css, words.<language>.html, widget.js.
// The exported file holds all but the widget, both languages inside, and must stay under BUDGET bytes as it is:
// the build fails where it would not.
import { build, transform } from "esbuild";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = join(here, "../src/mirada/static");
const LANGUAGES = ["es", "en"];
const STYLES = ["tokens", "page", "picture", "planes", "tasks"];
const BUDGET = 60_000;
const SHELL = 1_700; // what views/page.py writes round it: policy, title, icon

const common = {
  absWorkingDir: here, bundle: true, charset: "utf8", legalComments: "none", write: false,
  inject: ["src/entry/jsx.ts"], jsx: "transform", jsxFactory: "h", jsxFragment: "Fragment",
  tsconfigRaw: {}, target: ["chrome109", "firefox115", "safari16.4"],
};

const bundle = async (entry, options) => {
  const { outputFiles } = await build({ ...common, entryPoints: ["src/entry/" + entry], ...options });
  return outputFiles[0].text.trim();
};

/** The same document in fewer bytes: quotes and end tags that HTML lets one leave out. */
const lean = (html) =>
  html.replace(/ ([a-z-]+)="([^"\s'=<>`]+)"(?=[ >])/gi, " $1=$2")
    .replace(/ ([a-z-]+)="([^"\s'=<>`]+)"\/>/gi, " $1=$2 />")
    .replace(/ class=""/g, "").replace(/<\/(?:li|td|th|tr|thead|tbody|p|option)>(?=<\/?(?:li|td|th|tr|thead|tbody|table|ol|ul|div|section|p|h2)\b)/g, "");

const prerendered = async () => {
  const folder = await mkdtemp(join(here, "node_modules/.prerender-"));
  try {
    const file = join(folder, "prerender.mjs");
    await writeFile(file, await bundle("prerender.tsx", { format: "esm", platform: "node" }));
    const { prerender } = await import(pathToFileURL(file));
    return LANGUAGES.map((language) => [`words.${language}.html`, lean(prerender(language))]);
  } finally {
    await rm(folder, { recursive: true });
  }
};

const css = async () => {
  const parts = await Promise.all(STYLES.map((name) => readFile(join(here, `src/style/${name}.css`), "utf8")));
  return (await transform(parts.join("\n"), { loader: "css", minify: true, charset: "utf8", target: common.target })).code.trim();
};

const files = Object.fromEntries([
  ["words.js", await bundle("page.tsx", { format: "iife", minify: true })],
  ["widget.js", await bundle("widget.tsx", { format: "esm", minify: true })],
  ["words.css", await css()],
  ...(await prerendered()),
]);

await mkdir(out, { recursive: true });
for (const name of await readdir(out)) if (!name.startsWith(".") && !(name in files)) await rm(join(out, name));
for (const [name, text] of Object.entries(files)) await writeFile(join(out, name), text);

const bytes = (name) => Buffer.byteLength(files[name]);
for (const name of Object.keys(files)) console.log(name.padEnd(14), String(bytes(name)).padStart(7));
for (const language of LANGUAGES) {
  const total = bytes("words.js") + bytes("words.css") + bytes(`words.${language}.html`) + SHELL;
  console.log(`file, ${language}`.padEnd(14), String(total).padStart(7), "of", BUDGET);
  if (total > BUDGET) process.exitCode = 1;
}
