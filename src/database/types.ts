/** `Type`: the column types. */
import { needsFunction, needsOptions, needsSchema, needsText, needsTexts } from "../arguments.ts";
import { int32Range, isInt32 } from "../codecs/int32.ts";
import { digitsAt, isCalendarDate } from "../codecs/time.ts";
import { compileReader } from "../schema/read.ts";
import type { StandardSchema, OutputOf, AnyStandard, Stored } from "../schema/standard.ts";
import type { Shape } from "../schema/valibot.ts";
import { compileWriter } from "../schema/write.ts";
import {
  TypeMismatch,
  bytesFromText,
  elementsOf,
  fit,
  hexOf,
  instantOf,
  instantText,
  listText,
  customTypes,
  needsType,
  storableText,
} from "./type-text.ts";
import type { DatabaseType } from "./type-text.ts";

const integers = [21, 23];
const texts = [25, 1043, 1042, 19, customTypes];

/**
 * `int4`, `int2`: a whole number from −2 147 483 648 to 2 147 483 647. `Path.int32` and `Codec.int32` read no
 * other, and `Path.int` and `v.integer()` read longer ones: bound what a client sends, or its number is a 500.
 */
export const int: DatabaseType<number> = {
  name: "int",
  takes: int32Range,
  reads: integers,
  sends: [...integers, 20, 1700, 700, 701],
  parse: (text) => fit(Number(text), Number.isInteger),
  print: (value) => String(fit(value, isInt32)),
};

/** `int8`, `int4`, `int2`: a whole number from −2⁶³ to 2⁶³ − 1, exact. */
export const int64: DatabaseType<bigint> = {
  name: "int64",
  reads: [20, ...integers],
  sends: [20, ...integers, 1700],
  parse: (text) => BigInt(text),
  print: (value) => String(fit(value, (value) => typeof value === "bigint" && BigInt.asIntN(64, value) === value)),
};

/** `float8`, `float4`: any `number`, with −0, NaN and the infinities. */
export const float: DatabaseType<number> = {
  name: "float",
  reads: [701, 700],
  sends: [701, 700, 1700],
  parse: (text) => (text === "NaN" ? Number.NaN : fit(Number(text), (value) => !Number.isNaN(value))),
  print: (value) => (Object.is(value, -0) ? "-0" : String(fit(value, (value) => typeof value === "number"))),
};

const decimal = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$|^NaN$|^-?Infinity$/;

/** `numeric`, as a string of its digits: no precision is lost. */
export const numeric: DatabaseType<string> = {
  name: "numeric",
  reads: [1700],
  sends: [1700, 20, ...integers, 700, 701],
  parse: (text) => text,
  print: (value) => fit(value, (value) => decimal.test(value)),
};

/**
 * `text`, `varchar`, `char`, `name`, and types of extensions, as `citext`. PostgreSQL's text cannot contain NUL, and JSON's can: bound
 * what a client sends, by `v.regex`, or its text is a 500.
 */
export const text: DatabaseType<string> = {
  name: "text",
  takes: "a text without NUL and without half a surrogate pair",
  reads: texts,
  parse: (text) => text,
  print: storableText,
};

/** `bool`. */
export const bool: DatabaseType<boolean> = {
  name: "bool",
  reads: [16],
  parse: (text) => fit(text, (text) => text === "t" || text === "f") === "t",
  print: (value) => (fit(value, (value) => typeof value === "boolean") ? "t" : "f"),
};

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** `uuid`: 36 characters; PostgreSQL returns it in lower case. */
export const uuid: DatabaseType<string> = {
  name: "uuid",
  reads: [2950],
  parse: (text) => text,
  print: (value) => fit(value, (value) => uuidForm.test(value)),
};

/** `bytea`. */
export const bytes: DatabaseType<Uint8Array> = { name: "bytes", reads: [17], parse: bytesFromText, print: hexOf };

/** `date`, in the years 1 to 9999; months and days count from 1. */
export const date: DatabaseType<readonly [year: number, month: number, day: number]> = {
  name: "date",
  takes: "a day in the years 1 to 9999",
  reads: [1082],
  parse(text) {
    if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) throw new TypeMismatch();
    return [digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2)];
  },
  print([year, month, day]) {
    if (year === 0 || !isCalendarDate(year, month, day)) throw new TypeMismatch();
    return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
  },
};

/** `timestamptz`, in the years 1 to 9999. Reading cuts off what is finer than a millisecond. */
export const instant: DatabaseType<Date> = {
  name: "instant",
  takes: "a Date in the years 1 to 9999",
  reads: [1184],
  parse: instantOf,
  print: instantText,
};

/** `json`, `jsonb`: validated and written by a shape. */
export function json<A>(shape: Shape<A>): DatabaseType<A>;
export function json<S extends StandardSchema>(schema: S & Stored<S>): DatabaseType<OutputOf<S>>;
export function json(shape: AnyStandard): DatabaseType<unknown> {
  needsSchema("Type.json: its shape", shape);
  const reader = compileReader(shape);
  const writer = compileWriter(shape);
  return {
    name: "json",
    reads: [114, 3802],
    parse(text) {
      const read = reader.readText(text);
      if (read.ok) return read.value;
      throw new TypeMismatch();
    },
    print(value) {
      const written = writer.write(value);
      if (written.ok) return written.value;
      throw new TypeMismatch();
    },
  };
}

/** A type that may be NULL, which is `undefined` here: as a row's member of `v.optional`. */
export function optional<A>(type: DatabaseType<A>): DatabaseType<A | undefined> {
  needsType("Type.optional: it", type);
  return {
    ...type,
    name: `optional ${type.name}`,
    isOptional: true,
    parse: (text) => type.parse(text),
    print: (value) => (value === undefined ? null : type.print(value)),
  };
}

/** A type that may be NULL, which is `null` here: as a row's member of `v.nullable`, which JSON has. */
export function nullable<A>(type: DatabaseType<A>): DatabaseType<A | null> {
  needsType("Type.nullable: it", type);
  return {
    ...type,
    name: `nullable ${type.name}`,
    isOptional: true,
    isNullable: true,
    parse: (text) => type.parse(text),
    print: (value) => (value === null ? null : type.print(value)),
  };
}

/** An array, as `int4[]`. For more dimensions, nest it; inner arrays must have one length. */
export function array<A>(type: DatabaseType<A>): DatabaseType<readonly A[]> {
  needsType("Type.array: its items' type", type);
  const numbers = (of: readonly number[] | undefined): readonly number[] | undefined =>
    type.isArray ? of : of?.map((number) => arrays.get(number) ?? number);
  const sends = numbers(type.sends);
  const reads = numbers(type.reads);
  return {
    name: `array of ${type.name}`,
    ...(type.takes === undefined ? {} : { takes: `a list, each item ${type.takes}` }),
    // The server names the base type of a domain, but not of its array.
    reads: reads && [...reads, customTypes],
    ...(sends === undefined ? {} : { sends }),
    isArray: true,
    parse: (text) => elementsOf(text, type),
    print: (values) => listText(values, type),
  };
}

/** One of the given words: a column of text, or of a type made by `create type … as enum`. */
function enumeration<const Words extends readonly string[]>(words: Words): DatabaseType<Words[number]> {
  needsTexts("Type.enum: its words", words);
  const one = (word: string): Words[number] => fit(word, (word) => words.includes(word));
  return { name: `one of ${words.join(", ")}`, reads: texts, parse: one, print: one };
}

/**
 * A custom type over PostgreSQL's text form. Both functions throw if the value is invalid; what they throw is discarded.
 *
 * @param options `name` is used in error messages.
 */
export function custom<A>(options: {
  readonly name: string;
  readonly parse: (text: string) => A;
  readonly print: (value: A) => string;
}): DatabaseType<A> {
  needsOptions("Type.custom", options, "name parse print");
  const { name, parse, print } = options;
  needsText("Type.custom: name", name);
  needsFunction("Type.custom: parse", parse);
  needsFunction("Type.custom: print", print);
  return { name, reads: undefined, parse, print: (value) => storableText(print(value)) };
}

// The OID of each type's array (pg_type.typarray). Arrays of custom types are custom types too.
const arrays: ReadonlyMap<number, number> = /* @__PURE__ */ new Map([
  [16, 1000],
  [17, 1001],
  [19, 1003],
  [20, 1016],
  [21, 1005],
  [23, 1007],
  [25, 1009],
  [114, 199],
  [700, 1021],
  [701, 1022],
  [1042, 1014],
  [1043, 1015],
  [1082, 1182],
  [1184, 1185],
  [1700, 1231],
  [2950, 2951],
  [3802, 3807],
]);

export type { DatabaseType as Type } from "./type-text.ts";

export { enumeration as enum };
