import fc from "fast-check";

/**
 * Any character but a lone surrogate, for `fc.string({ unit: codePoint })`. The unit "binary" of fast-check is the same, and keeps
 * each of its million characters: a process takes a second to make them.
 */
export const codePoint: fc.Arbitrary<string> = fc.nat(0x10ffff - 0x800).map(
  (place) => String.fromCodePoint(place < 0xd800 ? place : place + 0x800),
  // So that texts such as "__proto__" are tried as well.
  (character) => {
    const code = typeof character === "string" ? character.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== character) throw new Error("not one character");
    return code < 0xd800 ? code : code - 0x800;
  },
);
