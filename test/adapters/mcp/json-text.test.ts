import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { itemTexts, memberText, memberTexts } from "../../../adapters/mcp/json-text.ts";

/** A name that JSON may write with an escape, or that looks like a bracket. */
const name = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', "\\", "{", "]", ",", ":", "a", "\n", "é") }));
const space = fc.constantFrom(undefined, 1, 4, "\t", "\n \r");

describe("a part of a JSON text", () => {
  it("is the value of its name", () => {
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue()), space, (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const read = JSON.parse(text) as Record<string, unknown>;
        const found = memberTexts(text);
        expect([...found.keys()].toSorted()).toEqual(Object.keys(read).toSorted());
        for (const [name, one] of Object.entries(read)) {
          expect(JSON.parse(memberText(text, name) ?? "")).toEqual(one);
          expect(found.get(name)).toBe(memberText(text, name));
        }
      }),
    );
  });

  it("is an item of its list", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), space, (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(itemTexts(text).map((item) => JSON.parse(item) as unknown)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    [' {"a" : 1 ,"a":2e5\n} ', "a", "2e5"],
    ['{"\\u0061":"\\"}"}', "a", '"\\"}"'],
    ['{"b":{"a":1}}', "a", undefined],
    ['{"b":"\\\\","a":[ [] , {} ]}', "a", "[ [] , {} ]"],
    ["{}", "a", undefined],
    ['{"":null}', "", "null"],
  ])("in %s the member %s is %s", (text, name, value) => {
    expect(memberText(text, name)).toBe(value);
  });
});
