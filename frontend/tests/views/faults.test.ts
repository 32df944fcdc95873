import { expect, test } from "vitest";
import { texts } from "../../src/catalogue";
import type { FaultCode } from "../../src/scene/fault";

/** Of the type of all codes, so that one that is missing here, or too much, is a type error. */
const CODES: Record<FaultCode, true> = {
  "own.empty": true, "own.one": true, "own.many": true,
  "number.empty": true, "number.nan": true, "number.range": true,
  "link.version": true, "link.unknown": true, "link.repeat": true, "link.value": true, "link.number": true,
  "link.range": true, "link.word": true, "link.count": true, "link.encoding": true,
};

test.each(["es", "en"] as const)("every fault that a page can meet has a sentence in %s, and no other has one", (language) => {
  const said = Object.entries(texts[language]).filter(([key]) => key.startsWith("fault."));
  expect(said.map(([key]) => key).sort()).toEqual(Object.keys(CODES).map((code) => "fault." + code).sort());
  expect(said.filter(([, text]) => !text)).toEqual([]);
});
