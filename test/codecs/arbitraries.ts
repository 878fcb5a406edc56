import fc from "fast-check";
import type * as Codec from "../../src/codecs/index.ts";

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
  fc.record({ display: fc.string({ unit: "binary" }) }),
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
