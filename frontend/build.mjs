// Builds the pages into src/mirada/static/, each as NAME.js, NAME.css and NAME.<language>.html: words, the exported file;
// lab, the same page in the lab, which has other pages beside it; train; images. And widget.js, for notebooks.
// The exported file holds words.*, both languages inside, and must stay under BUDGET bytes as it is: the build fails
// where it would not.
import { fileURLToPath, pathToFileURL } from "node:url";
import { join } from "node:path";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import zopfli from "@gfx/zopfli";
import { build, transform } from "esbuild";
import { pack } from "./pack.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = join(here, "../src/mirada/static");
const LANGUAGES = ["es", "en"];
const BUDGET = 60_000;
const SHELL = 1_300; // what views/page.py writes round it: policy, title, icon

const TARGET = ["chrome123", "firefox120", "safari17.5"]; // light-dark() is the youngest thing in it

/** Everything but the tokens stands inside .mirada { }, so that nothing leaks into a notebook. */
const css = async (first, names) => {
  const read = async (name) => (name ? readFile(join(here, `src/style/${name}.css`), "utf8") : "");
  const [top, ...inside] = await Promise.all([first, ...names].map(read));
  const { code } = await transform(`${top}.mirada{${inside.join("")}}`, { loader: "css", minify: true, charset: "utf8", target: TARGET });
  return code.trim().replace(/(--[\w-]+): /g, "$1:");
};

/** The style of what only a script can bring along comes with the script. */
const live = {
  name: "live.css",
  setup: (esbuild) => {
    esbuild.onResolve({ filter: /^live\.css$/ }, ({ path }) => ({ path, namespace: "live" }));
    esbuild.onLoad({ filter: /.*/, namespace: "live" }, async () => ({ contents: await css("", ["picture", "controls"]), loader: "text" }));
  },
};

/** All sentences with their keys once and each language as one text: half the size of two objects. name: whose sentences,
 *  a file of src/catalogue that exports `texts`. */
const catalogue = (name) => ({
  name: "catalogue",
  setup: (esbuild) => {
    esbuild.onLoad({ filter: /catalogue\/index\.ts$/ }, async () => {
      const path = join(here, `src/catalogue/${name}.ts`);
      const { outputFiles } = await build({ entryPoints: [path], bundle: true, write: false, format: "esm", charset: "utf8" });
      const { texts } = await import("data:text/javascript;base64," + Buffer.from(outputFiles[0].contents).toString("base64"));
      const keys = Object.keys(texts.en);
      const joined = (parts) => JSON.stringify(parts.join("|"));
      return { contents: `const keys = ${joined(keys)}.split("|");
        const texts = { ${LANGUAGES.map((l) => `${l}: ${joined(keys.map((k) => texts[l][k]))}.split("|")`)} };
        export const catalogue = (key, language) => texts[language][keys.indexOf(key)];` };
    });
  },
});

const common = {
  absWorkingDir: here, bundle: true, charset: "utf8", legalComments: "none", write: false,
  inject: ["src/views/jsx.ts"], jsx: "transform", jsxFactory: "h",
  tsconfigRaw: {}, target: TARGET,
};

/** texts: the catalogue of the page; all but the exported file and the widget stand in the lab. */
const bundle = async (entry, texts, options) => {
  const { outputFiles } = await build({
    ...common, entryPoints: ["src/entry/" + entry], plugins: [live, catalogue(texts)],
    define: { LAB: String(texts !== "index") }, ...options,
  });
  return outputFiles[0].text.trim();
};

const whole = (text) => text.replace(/\d+\.\d+/g, (n) => Math.round(n));

/** The same document in fewer bytes: without the quotes and tags that HTML lets one leave out, planes in whole pixels. */
const lean = (html) =>
  html.replace(/<div class="plane">.*?<\/svg>/gs, (plane) => plane.replace(/ (?:d|c?x|c?y|transform)="[^"]*"/g, whole))
    .replace(/ ([a-z-]+)="([^"\s'=<>`]+)"(?=[ >])/gi, " $1=$2").replace(/<\/tbody>/g, "")
    .replace(/<\/(?:li|td|th|tr|thead|p)>(?=<\/?(?:li|td|th|tr|tbody|table|ol|div|section|p|h2)\b)/g, "");

/** What a page shows before its script runs, in each language. */
const prerendered = async (entry, texts) => {
  const folder = await mkdtemp(join(here, "node_modules/.prerender-"));
  try {
    const file = join(folder, "prerender.mjs");
    await writeFile(file, await bundle(entry, texts, { format: "esm", platform: "node" }));
    const { prerender } = await import(pathToFileURL(file));
    return LANGUAGES.map((language) => [language, prerender(language)]);
  } finally {
    await rm(folder, { recursive: true });
  }
};

/** Our custom properties under names of one letter, in all that is built. */
const NAMES = "paper tint rule edge ink ink2 ink3 coral coral-text key on-paper on-ink on-half serif sans shade depth size gap".split(" ");
const brief = (text) => text.replace(/--([a-z][\w-]*)/g, (all, name) => (NAMES.includes(name) ? "--" + String.fromCharCode(65 + NAMES.indexOf(name)) : all));

const script = { format: "iife", minify: true };
const words = ["page", "drawing"];
const still = (name, pages) => pages.map(([language, html]) => [`${name}.${language}.html`, lean(html)]);
const files = Object.fromEntries([
  ["words.js", await bundle("page.tsx", "index", script)],
  ["words.css", await css("tokens", words)],
  ...still("words", await prerendered("prerender.tsx", "index")),
  ["lab.js", await bundle("page.tsx", "lab", script)],
  ["lab.css", await css("tokens", [...words, "pages"])],
  ...still("lab", await prerendered("prerender.tsx", "lab")),
  ["train.js", await bundle("train.tsx", "train", script)],
  ["train.css", await css("tokens", [...words, "picture", "controls", "pages", "train"])],
  ...still("train", await prerendered("prerender-train.tsx", "train")),
  ["images.js", await bundle("images.tsx", "images", script)],
  ["images.css", await css("tokens", [...words, "picture", "controls", "pages", "images"])],
  ...still("images", await prerendered("prerender-images.tsx", "images")),
  ["widget.js", await bundle("widget.tsx", "index", { format: "esm", minify: true })],
]);

await mkdir(out, { recursive: true });
for (const name of await readdir(out)) if (!name.startsWith(".") && !(name in files)) await rm(join(out, name));
for (const name of Object.keys(files)) files[name] = brief(files[name]);
files["words.js"] = pack(files["words.js"], await zopfli.deflateAsync(Buffer.from(files["words.js"]), { numiterations: 15 }));
for (const [name, text] of Object.entries(files)) await writeFile(join(out, name), text);

const bytes = (name) => Buffer.byteLength(files[name]);
for (const name of Object.keys(files)) console.log(name.padEnd(14), String(bytes(name)).padStart(7));
for (const language of LANGUAGES) {
  const total = bytes("words.js") + bytes("words.css") + bytes(`words.${language}.html`) + SHELL;
  console.log(`file, ${language}`.padEnd(14), String(total).padStart(7), "of", BUDGET);
  if (total > BUDGET) process.exitCode = 1;
}
