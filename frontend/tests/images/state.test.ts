import { describe, expect, test } from "vitest";
import { fromLink, startOf, THREE, toLink, type Shown } from "../../src/images/state";
import { blank } from "../../src/images/strokes";

const all: Shown[] = [
  startOf("china"), startOf("flower"), startOf("digit"),
  { source: "flower", model: "mis fotos & más", query: 0, block: 2, head: 3, rollout: false, temperature: 0.25, cells: blank() },
  { ...startOf("china"), query: -1, rollout: true },
  { ...startOf("digit"), query: 7, cells: THREE.map((x) => 16 - x) },
];

describe("the link", () => {
  test.each(all)("leads back to where it came from", (shown) => expect(fromLink("#" + toLink(shown))).toEqual(shown));

  test("is empty for the beginning, and short", () => {
    expect(toLink(startOf("china"))).toBe("");
    expect(toLink(startOf("digit"))).toBe("s=digit");
    expect(toLink(all[3])).toBe("s=flower&m=mis%20fotos%20%26%20m%C3%A1s&p=0&b=3&h=4&t=0.25");
  });

  test("knows nothing of a picture of one's own", () => {
    expect(toLink({ ...startOf("own"), query: 3 })).toBe("p=3");
    expect(fromLink("s=own")).toBeNull();
  });

  test.each(["s=cat", "p=-2", "p=x", "b=0", "h=0", "t=0", "t=11", "t=", "r=2", "x=1", "p=1&p=2", "m=%", "d=" + "0".repeat(64), "s=digit&d=0", "s=digit&d=" + "h".repeat(64), "p", "s=china=1"])(
    "of what is broken believes nothing: %s", (link) => expect(fromLink(link)).toBeNull());
});
