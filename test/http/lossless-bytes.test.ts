/** The bytes of texts that digests and signatures are made of. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeHex, losslessBytes } from "../../src/http/bytes.ts";

/** Texts with many lone surrogates. */
const text = fc.array(fc.constantFrom("a", "ü", "€", "😀", "\ud800", "\udc00", "\udfff", "\ufffd"), { maxLength: 8 });

it("texts that differ have other bytes, and those of Unicode their UTF-8", () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [a, b] = [one.join(""), other.join("")];
      expect(encodeHex(losslessBytes(a)) === encodeHex(losslessBytes(b))).toBe(a === b);
      if (a.isWellFormed()) expect(losslessBytes(a)).toEqual(new TextEncoder().encode(a));
    }),
    { numRuns: 3000 },
  );
});
