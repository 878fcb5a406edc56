import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encoded } from "../../src/codecs/codec.ts";
import * as Codec from "../../src/codecs/index.ts";
import * as arbitrary from "./arbitraries.ts";
import { valueOf } from "./expectations.ts";
import { rounds } from "../support/wide.ts";
import { codePoint } from "../support/code-point.ts";

interface Law<A> {
  readonly codec: Codec.Codec<A>;
  readonly values: fc.Arbitrary<A>;
}
function law<A>(codec: Codec.Codec<A>, values: fc.Arbitrary<A>): Law<unknown> {
  return { codec, values } as unknown as Law<unknown>;
}

const laws: Readonly<Record<string, Law<unknown>>> = {
  string: law(Codec.string, fc.string({ unit: codePoint })),
  int: law(Codec.int, fc.maxSafeInteger()),
  int32: law(Codec.int32, fc.integer()),
  int64: law(Codec.int64, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  float: law(Codec.float, fc.double({ noNaN: true, noDefaultInfinity: true })),
  bool: law(Codec.bool, fc.boolean()),
  uuid: law(Codec.uuid, fc.uuid()),
  date: law(Codec.date, arbitrary.calendarDate),
  instant: law(Codec.instant, arbitrary.instant),
  enum: law(Codec.enum("colour", ["blue", "gold", "a b"]), fc.constantFrom("blue", "gold", "a b")),
  mediaType: law(Codec.mediaType, arbitrary.mediaType),
  accept: law(Codec.accept, arbitrary.accept),
  weighted: law(Codec.weighted, arbitrary.weighted),
  credentials: law(Codec.credentials, arbitrary.credentials),
  cacheControl: law(Codec.cacheControl, arbitrary.cacheControl),
  entityTag: law(Codec.entityTag, arbitrary.entityTag),
  entityTags: law(Codec.entityTags, arbitrary.entityTags),
  httpDate: law(Codec.httpDate, arbitrary.httpDate),
  byteRanges: law(Codec.byteRanges, arbitrary.byteRanges),
  forwarded: law(Codec.forwarded, arbitrary.forwarded),
  structuredItem: law(Codec.structuredItem, arbitrary.structuredItem),
  structuredList: law(Codec.structuredList, arbitrary.structuredList),
  structuredDictionary: law(Codec.structuredDictionary, arbitrary.structuredDictionary),
  encoded: law(encoded, fc.string({ unit: codePoint })),
};
const names = Object.keys(laws);
/** Codecs that read any text. */
const takesAny = ["string"];
const codecs = Object.values(laws).map(({ codec }) => codec);

describe("a printed value is read back", () => {
  it.each(names)("%s", (name) => {
    const { codec, values } = laws[name]!;
    fc.assert(
      fc.property(values, (value) => {
        const printed = codec.print(value);
        expect(valueOf(codec, printed)).toEqual(value);
        expect(codec.print(valueOf(codec, printed))).toBe(printed);
      }),
    );
  });
});

// Characters that mean something to one codec or another, so that many texts get past its first character.
const near = fc.string({
  unit: fc.constantFrom(...'aZ*09-+.:;,="\\/ \t()?@%_~TQq=\u0000\u00e9\u0100\ud800'),
  maxLength: 40,
});
const anything = fc.oneof(near, fc.string({ unit: codePoint }), fc.string({ unit: "grapheme" }));

const printed = fc
  .constantFrom(...Object.values(laws))
  .chain(({ codec, values }) => values.map((value) => codec.print(value)));
/** A printed value with a piece put in it, taken out of it, or cut off. */
const damaged = printed.chain((text) =>
  fc
    .tuple(fc.nat(text.length), fc.nat(3), near)
    .map(([at, cut, piece]) => text.slice(0, at) + piece + text.slice(at + cut)),
);

describe("any text", () => {
  it("is read or refused by every codec without an exception, and a value that was read is printed as the same value", () => {
    const reading = new Set<unknown>();
    fc.assert(
      fc.property(fc.oneof(anything, printed, damaged), (text) => {
        for (const codec of codecs) {
          const result = codec.parse(text);
          if (!result.ok) continue;
          reading.add(codec);
          const printed = codec.print(result.value);
          expect(valueOf(codec, printed)).toEqual(result.value);
        }
      }),
      { numRuns: rounds(3000) },
    );
    expect(names.filter((_, i) => !reading.has(codecs[i]))).toEqual([]);
  });

  it("is never in the message", () => {
    const secret = fc.string({ unit: fc.constantFrom(..."ZXJQ7@|~"), minLength: 3 });
    const refusing = new Set<unknown>();
    fc.assert(
      fc.property(secret, (text) => {
        for (const codec of codecs) {
          const result = codec.parse(text);
          if (result.ok) continue;
          refusing.add(codec);
          expect(result.error).toMatch(/^This is not .+\.$/);
          expect(result.error).not.toContain(text);
        }
      }),
    );
    expect(names.filter((_, i) => !refusing.has(codecs[i]))).toEqual(takesAny);
  });

  it("is refused with one constant result", () => {
    let refusing = 0;
    for (const codec of codecs) {
      const refused = ['"', "\u0000"].map((text) => codec.parse(text)).filter((result) => !result.ok);
      expect(new Set(refused).size).toBeLessThanOrEqual(1);
      expect(refused.every(Object.isFrozen)).toBe(true);
      if (refused.length > 0) refusing++;
    }
    expect(refusing).toBe(codecs.length - takesAny.length);
  });
});

// Work that grows with the square of these would run for hours, not milliseconds.
const length = 100_000;
const hostile: Readonly<Record<string, string>> = {
  digits: "9".repeat(length),
  zeros: "0".repeat(length),
  "zeros and a letter": `${"0".repeat(length)}x`,
  "minus and zeros": `-${"0".repeat(length)}`,
  "a fraction": `2026-09-30T12:00:00.${"1".repeat(length)}`,
  "a decimal": `0.${"1".repeat(length)}e`,
  letters: "a".repeat(length),
  blanks: " ".repeat(length),
  "a and blanks": `a${" ".repeat(length)}b`,
  "a type and blanks": `a/b${" \t".repeat(length)}x`,
  "a type and semicolons": `a/b${" ; ".repeat(length)}x`,
  "parameters that repeat": `a/b${";a=b".repeat(length)}`,
  commas: ",".repeat(length),
  "commas and blanks": " , ".repeat(length),
  quotes: '"'.repeat(length),
  "an open quote": `a=b;c="${"x".repeat(length)}`,
  "an open quote of escapes": `a=b;c="${'\\"'.repeat(length)}`,
  "an open string": `"${"\\\\".repeat(length)}`,
  equals: "=".repeat(length),
  "entity tags": `${'W/"a", '.repeat(length)}x`,
  ranges: `bytes=${"0-1,".repeat(length)}x`,
  "a long position": `bytes=${"9".repeat(length)}-`,
  "token68 and not": `a ${"b".repeat(length)} c`,
  "padding and not": `a b${"=".repeat(length)} c`,
  "a long scheme": `${"a".repeat(length)} =`,
  parentheses: "(".repeat(length),
  "an open inner list": `(${"a ".repeat(length)}`,
  "a list": "a, ".repeat(length),
  "a dictionary": `${"a=1, ".repeat(length)}=`,
  "an open display string": `%"${"%20".repeat(length)}`,
  "a display string": `%"${"%20".repeat(length)}"`,
  "open bytes": `:${"A".repeat(length)}`,
  bytes: `:${"AAAA".repeat(length)}:`,
  "numbers with points": "1.".repeat(length),
  hops: `${"for=_a, ".repeat(length)}for=`,
  "an address": `for="[${"1:".repeat(length)}]"`,
  "an address of numbers": `for="${"1.".repeat(length)}"`,
  "an obfuscated name": `for=_${"a".repeat(length)}`,
};

describe("reading a hostile text takes linear time", () => {
  it.each(Object.keys(hostile))("%s", (name) => {
    const text = hostile[name]!;
    for (const codec of codecs) {
      const result = codec.parse(text);
      expect(typeof (result.ok ? codec.print(result.value) : result.error)).toBe("string");
    }
  });
});
