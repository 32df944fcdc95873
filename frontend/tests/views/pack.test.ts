import { createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
// @ts-expect-error: the build is plain JavaScript
import { pack } from "../../pack.mjs";

/** Runs what was packed as a page would: the bytes it unpacks, and the text it puts into a script element. */
const unpacked = (packed: string): Promise<{ bytes: number; text: string }> =>
  new Promise((done, fail) => {
    let bytes = 0;
    class Counted extends Blob {
      constructor(parts: Uint8Array<ArrayBuffer>[]) {
        super(parts);
        bytes = this.size;
      }
    }
    const document = { createElement: () => ({}), head: { append: (s: { textContent: string }) => done({ bytes, text: s.textContent }) } };
    (new Function("document", "Blob", "return " + packed) as (d: unknown, b: unknown) => Promise<void>)(document, Counted).catch(fail);
  });

// Thirteen bits at a time: every remainder of the length by 13 must come out whole.
test.each(Array.from({ length: 26 }, (_, i) => i + 1))("a script of %i times its line comes out as it went in", async (times) => {
  const script = Array.from({ length: times }, (_, i) => `/* ñ ${i ** 3} 😀 */`).join("\n");
  const deflated = deflateRawSync(script);
  // Not one byte too many: browsers take what follows the end for an error.
  expect(await unpacked(pack(script, deflated))).toEqual({ bytes: deflated.length, text: script });
});

test("what comes out is known by its hash, and nothing in what is packed can end its element or string", () => {
  const script = "x = '</script><!--'";
  const packed: string = pack(script, deflateRawSync(script));
  expect(packed).toMatch(/^\/\*sha256-[\w+/]{43}=\*\//);
  expect(packed).toContain(createHash("sha256").update(script).digest("base64"));
  expect(packed).not.toMatch(/<\/script|<!--/i);
});
