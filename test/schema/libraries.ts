/** The same schemas in four libraries. */
import { scope, type } from "arktype";
import * as Effect from "effect/Effect";
import * as S from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import type { Shape } from "usher-http";
import * as v from "valibot";
import * as z from "zod";

export type Schema = Shape | Shape.StandardSchema;

export interface Library {
  readonly name: string;
  readonly order: Schema;
  /** Text that becomes its length. */
  readonly length: Schema;
  /** Text that becomes an instant. */
  readonly day: Schema;
  /** A member with a default. */
  readonly defaulted: Schema;
  readonly union: Schema;
  readonly tree: Schema;
  /** Text that must be `free`, checked by a promise. */
  readonly slow: Schema | undefined;
  /** Text whose check throws a TypeError for `boom`. */
  readonly raising: Schema;
  /** Any members with numbers. */
  readonly record: Schema;
  readonly text: Schema;
}

const effect = <S extends S.ConstraintDecoder<unknown> & S.Constraint>(schema: S) =>
  S.toStandardJSONSchemaV1(S.toStandardSchemaV1(schema));

interface Tree {
  readonly label: string;
  readonly below: readonly Tree[];
}
const valibotTree: v.GenericSchema<Tree> = v.object({ label: v.string(), below: v.array(v.lazy(() => valibotTree)) });
const zodTree = z.object({
  label: z.string(),
  get below() {
    return z.array(zodTree);
  },
});
const effectTree = S.Struct({
  label: S.String,
  below: S.Array(S.suspend((): S.Codec<Tree> => effectTree as unknown as S.Codec<Tree>)),
});

function boom(text: string): boolean {
  if (text === "boom") throw new TypeError("secret");
  return true;
}

export const valibot: Library = {
  name: "valibot",
  order: v.object({
    item: v.pipe(v.string(), v.minLength(2)),
    count: v.pipe(v.number(), v.integer(), v.minValue(1)),
    tags: v.array(v.string()),
    state: v.picklist(["new", "sent"]),
    buyer: v.object({ name: v.string() }),
  }),
  length: v.pipe(
    v.string(),
    v.transform((text) => text.length),
  ),
  day: v.pipe(
    v.string(),
    v.isoTimestamp(),
    v.transform((text) => new Date(text)),
  ),
  defaulted: v.object({ note: v.optional(v.string(), "none") }),
  union: v.union([v.string(), v.number()]),
  tree: valibotTree,
  slow: undefined,
  raising: v.pipe(v.string(), v.check(boom)),
  record: v.record(v.string(), v.number()),
  text: v.string(),
};

export const zod: Library = {
  name: "zod",
  order: z.object({
    item: z.string().min(2),
    count: z.number().int().min(1),
    tags: z.array(z.string()),
    state: z.enum(["new", "sent"]),
    buyer: z.object({ name: z.string() }),
  }),
  length: z.string().transform((text) => text.length),
  day: z.iso.datetime().transform((text) => new Date(text)),
  defaulted: z.object({ note: z.string().default("none") }),
  union: z.union([z.string(), z.number()]),
  tree: zodTree,
  slow: z.string().refine(async (text) => (await Promise.resolve(text)) === "free", "This is taken."),
  raising: z.string().refine(boom),
  record: z.record(z.string(), z.number()),
  text: z.string(),
};

export const arktype: Library = {
  name: "arktype",
  order: type({
    item: "string >= 2",
    count: "number.integer >= 1",
    tags: "string[]",
    state: "'new' | 'sent'",
    buyer: { name: "string" },
    "+": "delete",
  }),
  length: type("string").pipe((text) => text.length),
  day: type("string.date.iso.parse"),
  defaulted: type({ note: "string = 'none'" }),
  union: type("string | number"),
  tree: scope({ tree: { label: "string", below: "tree[]" } }).export().tree,
  // ArkType has no promises.
  slow: undefined,
  raising: type("string").narrow(boom),
  record: type({ "[string]": "number" }),
  text: type("string"),
};

export const effects: Library = {
  name: "effect",
  order: effect(
    S.Struct({
      item: S.String.check(S.isMinLength(2)),
      count: S.Int.check(S.isGreaterThanOrEqualTo(1)),
      tags: S.Array(S.String),
      state: S.Literals(["new", "sent"]),
      buyer: S.Struct({ name: S.String }),
    }),
  ),
  length: effect(
    S.String.pipe(
      S.decodeTo(S.Number, {
        decode: SchemaGetter.transform((text: string) => text.length),
        encode: SchemaGetter.transform(String),
      }),
    ),
  ),
  day: effect(S.DateFromString),
  defaulted: effect(S.Struct({ note: S.String.pipe(S.withDecodingDefaultKey(Effect.succeed("none"))) })),
  union: effect(S.Union([S.String, S.Number])),
  tree: effect(effectTree),
  slow: effect(
    S.String.pipe(
      S.decodeTo(S.Literal("free"), {
        decode: SchemaGetter.transformEffect((text: string) => Effect.promise(async () => text as "free")),
        encode: SchemaGetter.transform(String),
      }),
    ),
  ),
  raising: effect(S.String.check(S.makeFilter(boom))),
  record: effect(S.Record(S.String, S.Number)),
  text: effect(S.String),
};
