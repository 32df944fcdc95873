// The script as text that unpacks itself: deflated, thirteen bits in two signs. The page's policy knows what comes out
// by its hash, which stands first, so that packing opens no door.
import { createHash } from "node:crypto";

// The signs of ASCII that may stand in a script element's string: all but the quote, the backslash and "<".
const SIGNS = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((c) => !'"\\<'.includes(c));

/** Bytes as signs: 13 bits at a time, lowest first, as two signs of 91. */
export const toSigns = (bytes) => {
  let [text, bits, count] = ["", 0, 0];
  const write = () => {
    const value = bits & 8191;
    text += SIGNS[value % 91] + SIGNS[Math.floor(value / 91)];
    bits >>>= 13;
    count -= 13;
  };
  for (const byte of bytes) {
    bits |= byte << count;
    count += 8;
    if (count >= 13) write();
  }
  if (count > 0) write();
  return text;
};

// What runs first in the page. Without DecompressionStream the page stays as it was drawn beforehand.
// The length cuts off a byte that the last pair of signs may hold too much: what follows the end is an error there.
const UNPACK = `(async(p,l)=>{let b=[],v=0,n=0,i=0,d=c=>(c=p.charCodeAt(c)-33,c-(c>1)-(c>27)-(c>59)),s=document.createElement("script");\
for(;i<p.length;i+=2)for(v|=(d(i)+91*d(i+1))<<n,n+=13;n>7;n-=8)b.push(v&255),v>>>=8;b.length=l;\
s.textContent=await new Response(new Blob([new Uint8Array(b)]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();\
document.head.append(s)})`;

/** script: what is to run; deflated: the same as raw deflate, as small as it can be had. */
export const pack = (script, deflated) =>
  `/*sha256-${createHash("sha256").update(script).digest("base64")}*/${UNPACK}("${toSigns(deflated)}",${deflated.length})`;
