import fc from "fast-check";
import type * as Codec from "../../src/codecs/index.ts";
import { codePoint } from "../support/code-point.ts";

const fieldCharacter = fc
  .integer({ min: 0x20, max: 0xff })
  .filter((code) => code < 0x7f || code >= 0x80)
  .map((code) => String.fromCharCode(code));
const latin1 = fc.string({ unit: fieldCharacter });
const words = "abcxyz019!#$%&'*+-.^_`|~";
const token = fc.string({ unit: fc.constantFrom(...words), minLength: 1, maxLength: 8 });
const parameters = fc
  .uniqueArray(fc.tuple(token, latin1), { selector: ([name]) => name, maxLength: 4 })
  .map((pairs) => new Map(pairs));
const weight = fc.integer({ min: 0, max: 1000 });

export const calendarDate: fc.Arbitrary<Codec.CalendarDate> = fc
  .date({ min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
  .map((date) => [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()] as const);

export const instant: fc.Arbitrary<Date> = fc.date({
  min: new Date("0000-01-01T00:00:00.000Z"),
  max: new Date("9999-12-31T23:59:59.999Z"),
  noInvalidDate: true,
});

export const mediaType: fc.Arbitrary<Codec.MediaType> = fc.record({ type: token, subtype: token, parameters });

export const accept: fc.Arbitrary<readonly Codec.Weighted<Codec.MediaRange>[]> = fc.array(
  fc
    .record({ type: token, subtype: fc.oneof(token, fc.constant("*")), parameters, weight })
    .filter(({ type, subtype, parameters: its }) => (type !== "*" || subtype === "*") && !its.has("q")),
  { maxLength: 4 },
);

export const weighted: fc.Arbitrary<readonly Codec.Weighted<{ token: string }>[]> = fc.array(
  fc.record({ token, weight }),
  {
    maxLength: 4,
  },
);

const token68 = fc.stringMatching(/^[A-Za-z0-9\-._~+/]{1,20}={0,2}$/);

export const credentials: fc.Arbitrary<Codec.Credentials> = fc.record({
  scheme: token,
  value: fc.oneof(
    fc.record({ kind: fc.constant("token68" as const), token: token68 }),
    fc.record({ kind: fc.constant("parameters" as const), parameters }),
  ),
});

export const cacheControl: fc.Arbitrary<readonly Codec.CacheDirective[]> = fc.array(
  fc.record({ directive: token, argument: latin1 }, { requiredKeys: ["directive"] }),
  { maxLength: 4 },
);

const port = fc.oneof(
  fc.constant(""),
  fc.nat(65_535).map((number) => `:${number}`),
  fc.constant(":_p.1"),
);
const nodeName = fc.oneof(
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]`),
  fc.constantFrom("unknown", "_hidden", "_a.b-c"),
);
const node = fc.tuple(nodeName, port).map((parts) => parts.join(""));
const known = new Set(["for", "by", "host", "proto"]);

export const forwarded: fc.Arbitrary<readonly Codec.ForwardedElement[]> = fc.array(
  fc
    .record(
      {
        for: node,
        by: node,
        host: fc
          .tuple(
            fc.domain(),
            port.filter((text) => !text.includes("_")),
          )
          .map((parts) => parts.join("")),
        proto: fc.constantFrom("http", "https", "x-y+z.1"),
        extensions: fc
          .uniqueArray(
            fc.tuple(
              token.filter((name) => !known.has(name)),
              latin1,
            ),
            { selector: ([name]) => name, maxLength: 3 },
          )
          .map((pairs) => new Map(pairs)),
      },
      { requiredKeys: ["extensions"] },
    )
    .filter((element) => Object.keys(element).length > 1 || element.extensions.size > 0),
  { minLength: 1, maxLength: 3 },
);

const mostDigits = 999_999_999_999_999;
const lastDateSecond = 8_640_000_000_000;
const key = fc.stringMatching(/^[a-z*][a-z0-9_\-.*]{0,6}$/);
const structuredValue: fc.Arbitrary<Codec.StructuredValue> = fc.oneof(
  fc.integer({ min: -mostDigits, max: mostDigits }),
  fc.string({ unit: "grapheme-ascii" }),
  fc.boolean(),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => new Uint8Array(bytes)),
  fc.integer({ min: -lastDateSecond, max: lastDateSecond }).map((seconds) => new Date(seconds * 1000)),
  fc.record({ token: fc.stringMatching(/^[A-Za-z*][:/!#$%&'*+\-.^_`|~0-9A-Za-z]{0,8}$/) }),
  fc.record({ thousandths: fc.integer({ min: -mostDigits, max: mostDigits }) }),
  fc.record({ display: fc.string({ unit: codePoint }) }),
);
function keyed<A>(value: fc.Arbitrary<A>): fc.Arbitrary<ReadonlyMap<string, A>> {
  return fc
    .uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 3 })
    .map((pairs) => new Map(pairs));
}
const structuredParameters = keyed(structuredValue);

export const structuredItem: fc.Arbitrary<Codec.StructuredItem> = fc.tuple(structuredValue, structuredParameters);
const structuredMember: fc.Arbitrary<Codec.StructuredMember> = fc.oneof(
  structuredItem,
  fc.tuple(fc.array(structuredItem, { maxLength: 3 }), structuredParameters),
);
export const structuredList: fc.Arbitrary<Codec.StructuredList> = fc.array(structuredMember, { maxLength: 4 });
export const structuredDictionary: fc.Arbitrary<Codec.StructuredDictionary> = keyed(structuredMember);

const tagCharacter = fc
  .oneof(fc.constant(0x21), fc.integer({ min: 0x23, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
  .map((code) => String.fromCharCode(code));

export const entityTag: fc.Arbitrary<Codec.EntityTag> = fc.record({
  tag: fc.string({ unit: tagCharacter }),
  weak: fc.boolean(),
});

export const entityTags: fc.Arbitrary<readonly Codec.EntityTag[] | "*"> = fc.oneof(
  fc.constant("*" as const),
  fc.array(entityTag, { minLength: 1, maxLength: 4 }),
);

export const httpDate: fc.Arbitrary<Date> = instant.map((date) => new Date(Math.floor(date.getTime() / 1000) * 1000));

const position = fc.maxSafeNat();
const byteRange: fc.Arbitrary<Codec.ByteRange> = fc.oneof(
  position.map((suffix) => ({ suffix })),
  position.map((first) => ({ first })),
  fc.tuple(position, position).map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) })),
);

export const byteRanges: fc.Arbitrary<Codec.Ranges> = fc.oneof(
  fc.array(byteRange, { minLength: 1, maxLength: 4 }).map((ranges) => ({ unit: "bytes" as const, ranges })),
  fc.record({ unit: token.filter((name) => name !== "bytes"), unread: fc.constantFrom("1-2", "a, b", "=", "~") }),
);
