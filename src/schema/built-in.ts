import * as v from "valibot";
import { int64 as int64Codec, uuid as uuidCodec } from "../codecs/codec.ts";
import { date as dateCodec, instant as instantCodec } from "../codecs/time.ts";
import { dateSentence, instantSentence, uuidSentence } from "./formats.ts";
import { fraction, mustBe, outside, whole64, wholeWithFraction } from "./messages.ts";
import { InvalidValue, kindOf, rememberBuiltIn } from "./valibot.ts";
import type { BuiltIn, Shape } from "./valibot.ts";

/** A UUID (RFC 9562) as text; read in either case, and in lower case as a value. */
export const uuid: Shape<string, string> = /* @__PURE__ */ text<string>({
  format: "uuid",
  writes: "a UUID",
  read: (sent) => found(uuidCodec.parse(sent), uuidSentence),
  write: (value) => (typeof value === "string" ? uuidCodec.print(value) : ""),
});

/** A calendar day, sent as `"2026-09-30"`. */
export const date: Shape<readonly [year: number, month: number, day: number], string> = /* @__PURE__ */ text({
  format: "date",
  writes: "a date of the calendar",
  read: (sent) => found(dateCodec.parse(sent), dateSentence),
  write: (value) => (isDay(value) ? dateCodec.print(value) : ""),
});

/** An instant, sent as `"2026-09-30T12:00:00Z"` (RFC 3339), precise to the millisecond. */
export const instant: Shape<Date, string> = /* @__PURE__ */ text<Date>({
  format: "date-time",
  writes: "a Date in the years 0000 to 9999",
  read: readInstant,
  write: (value) => (value instanceof Date ? instantCodec.print(value) : ""),
});

/** A 64-bit whole number, exact; read from a number or from digits as text, written as a number. */
export const int64: Shape<bigint, number | string> = /* @__PURE__ */ made(
  /* @__PURE__ */ v.union([/* @__PURE__ */ v.number(), /* @__PURE__ */ v.string()]),
  {
    sorts: ["a number", "text"],
    expected: ["a whole number"],
    type: "integer",
    format: "int64",
    writes: "a bigint of 64 bits",
    read: readInt64,
    write: (value) => (typeof value === "bigint" && int64Codec.print(value) !== "" ? value : undefined),
  },
);

/** Any JSON, unchanged. */
export const anyJson: Shape = /* @__PURE__ */ v.unknown();

const outsideSentence = "This instant is outside the years 0000 to 9999 once in UTC.";

interface Text {
  readonly format: string;
  readonly writes: string;
  readonly read: (sent: string) => unknown;
  /** Empty for an invalid value. */
  readonly write: (value: unknown) => string;
}

function text<A>(options: Text): Shape<A, string> {
  return made<A, string>(v.string(), {
    sorts: ["text"],
    expected: ["text"],
    type: "string",
    format: options.format,
    writes: options.writes,
    read: (sent) =>
      typeof sent === "string" ? options.read(sent) : new InvalidValue("unexpected_type", mustBe(["text"], sent)),
    write: (value) => {
      const written = options.write(value);
      return written === "" ? undefined : written;
    },
  });
}

function made<A, Json>(sent: v.GenericSchema<Json>, builtIn: BuiltIn): Shape<A, Json> {
  const shape = v.pipe(
    sent,
    v.rawTransform<Json, A>(({ dataset, addIssue, NEVER }) => {
      const value = builtIn.read(dataset.value);
      if (!(value instanceof InvalidValue)) return value as A;
      addIssue({ message: value.message });
      return NEVER;
    }),
  );
  rememberBuiltIn(kindOf(shape), builtIn);
  return shape;
}

function found(parsed: { ok: true; value: unknown } | { ok: false }, sentence: string): unknown {
  return parsed.ok ? parsed.value : new InvalidValue("malformed", sentence);
}

function isDay(value: unknown): value is readonly [number, number, number] {
  return Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === "number");
}

function readInstant(sent: string): unknown {
  const parsed = instantCodec.parse(sent);
  return parsed.ok
    ? parsed.value
    : new InvalidValue("malformed", outsideYears(sent) ? outsideSentence : instantSentence);
}

/** Whether the text is well-formed, and only its offset moves it out of the years. */
function outsideYears(sent: string): boolean {
  const offset = /[+-]\d\d:\d\d$/.exec(sent)?.[0];
  if (offset === undefined) return false;
  const atZero = `${sent.slice(0, -offset.length)}Z`;
  return instantCodec.parse(atZero).ok && instantCodec.parse(`2000-01-01T00:00:00${offset}`).ok;
}

function readInt64(sent: unknown): unknown {
  if (typeof sent === "bigint") return BigInt.asIntN(64, sent) === sent ? sent : outside64(sent < 0n);
  if (typeof sent === "string") {
    const parsed = int64Codec.parse(sent);
    if (parsed.ok) return parsed.value;
    if (/^-?[0-9]+$/.test(sent)) return outside64(sent.startsWith("-"));
  }
  if (typeof sent !== "number") return new InvalidValue("unexpected_type", mustBe(["a whole number"], sent));
  if (Number.isSafeInteger(sent)) return BigInt(sent);
  // Long digits are parsed as a bigint. A number of this size was therefore written with a fraction or an exponent, and
  // rounded.
  if (Math.abs(sent) >= 2 ** 63) return outside64(sent < 0);
  if (!Number.isInteger(sent)) return new InvalidValue("unexpected_type", fraction);
  return new InvalidValue(sent < 0 ? "too_small" : "too_large", outside(wholeWithFraction, sent < 0));
}

function outside64(below: boolean): InvalidValue {
  return new InvalidValue(below ? "too_small" : "too_large", outside(whole64, below));
}
