/** The lookup of literal segments, compared with a plain map: its fast checks must never change what it finds. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { Literals } from "../../src/routing/router.ts";

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 80 }),
  fc.string({ unit: fc.constantFrom("a", "b", "é", "\u{1F600}"), minLength: 1, maxLength: 3 }),
);

it("finds what a map finds, anywhere in a path", () => {
  const texts = fc.array(text, { maxLength: 20 });
  fc.assert(
    fc.property(texts, texts, fc.string(), fc.string(), (known, others, before, after) => {
      const literals = new Literals<number>();
      const map = new Map<string, number>();
      for (const [i, text] of known.entries()) {
        literals.set(text, i);
        map.set(text, i);
      }
      for (const part of [...known, ...others]) {
        const end = before.length + part.length;
        expect(literals.find(before + part + after, before.length, end)).toBe(map.get(part));
        expect(literals.get(part)).toBe(map.get(part));
      }
    }),
  );
});

it("finds nothing when it is empty, and nothing for an empty text", () => {
  const literals = new Literals<number>();
  expect(literals.find("/a", 1, 2)).toBeUndefined();
  literals.set("a", 1);
  expect(literals.find("/a", 1, 1)).toBeUndefined();
  expect(literals.find("", 0, 0)).toBeUndefined();
});
