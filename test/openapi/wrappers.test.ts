/** Of any shape within wrappers, intersections and tagged unions: what is read and written is as its schema says, and what is read is written. */
import fc from "fast-check";
import { expect, it } from "vitest";
import * as v from "valibot";
import { Path, Returns, Shape, json, post } from "usher-http";
import { compileReader } from "../../src/schema/read.ts";
import { compileWriter } from "../../src/schema/write.ts";
import { compiler } from "./ajv.ts";
import { described, jsonSchema, onlyOperation } from "./described.ts";
import { rounds } from "../support/wide.ts";

type Schema = v.GenericSchema;

interface Case {
  readonly shape: Schema;
  readonly json: fc.Arbitrary<unknown>;
  /** How a counterexample spells the shape. */
  readonly spelled: string;
}

const word = fc.constantFrom("", "a", " a ", "7", "2026-09-30", "2026-09-30T12:00:00Z");
const leaves: readonly Case[] = [
  { shape: v.string(), json: word, spelled: "text" },
  { shape: v.pipe(v.number(), v.integer(), v.minValue(0)), json: fc.constantFrom(0, 1, -2, 1.5), spelled: "whole" },
  { shape: v.null(), json: fc.constant(null), spelled: "null" },
  { shape: v.unknown(), json: fc.constantFrom(null, "a", [null], { a: 1 }), spelled: "any" },
  { shape: v.picklist(["a", "7"]), json: word, spelled: "words" },
  { shape: Shape.instant, json: word, spelled: "instant" },
  { shape: Shape.int64, json: fc.constantFrom(0, "7", -5), spelled: "int64" },
  {
    shape: v.pipe(
      v.string(),
      v.transform((text) => text.length),
    ),
    json: word,
    spelled: "length",
  },
];

const wrappers: { readonly [name: string]: (shape: Schema) => Schema } = {
  optional: (shape) => v.optional(shape),
  exactOptional: (shape) => v.exactOptional(shape),
  undefinedable: (shape) => v.undefinedable(shape),
  nullable: (shape) => v.nullable(shape),
  nullish: (shape) => v.nullish(shape),
  "nullish, null": (shape) => v.nullish(shape, null),
  "nullish, made null": (shape) => v.nullish(shape, () => null),
  nonOptional: (shape) => v.nonOptional(shape),
  nonNullable: (shape) => v.nonNullable(shape),
  nonNullish: (shape) => v.nonNullish(shape),
  lazy: (shape) => v.lazy(() => shape),
  list: (shape) => v.array(shape),
  pipe: (shape) =>
    v.pipe(
      shape,
      v.check(() => true),
    ),
  "optional, changed": (shape) =>
    v.pipe(
      v.optional(shape),
      v.transform((value) => (value === undefined ? undefined : 1)),
    ),
  "optional, a text": (shape) =>
    v.pipe(
      v.optional(shape),
      v.transform(() => "x"),
      v.string(),
    ),
};

const nearly = (json: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: json }, { weight: 1, arbitrary: fc.constantFrom(null, "a", {}, []) });

const cases = fc.letrec<{ any: Case; object: Case }>((tie) => ({
  object: objectIn(["a", "b", "c"], tie("any")),
  any: fc.oneof(
    { maxDepth: 3, depthIdentifier: "wrapped" },
    fc.constantFrom(...leaves),
    tie("object"),
    wrapped(tie("any")),
    wrapped(tie("any")),
    fc.array(tie("any"), { minLength: 1, maxLength: 2 }).map(tupleOf),
    // Of one name two shapes may make two values, which is no value of both.
    fc.tuple(tie("object"), objectIn(["x", "y"], tie("any")), fc.boolean()).map(bothOf),
    fc.tuple(tie("object"), tie("object"), fc.boolean()).map(taggedOf),
  ),
})).any;

function wrapped(inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  return fc.tuple(inner, fc.constantFrom(...Object.keys(wrappers))).map(([one, by]) => ({
    shape: wrappers[by]?.(one.shape) as Schema,
    json: by === "list" ? fc.array(nearly(one.json), { maxLength: 2 }) : nearly(one.json),
    spelled: `${by}(${one.spelled})`,
  }));
}

function objectIn(names: readonly string[], inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  const member = fc.tuple(fc.constantFrom(...names), inner);
  return fc.uniqueArray(member, { selector: ([at]) => at, maxLength: 3 }).map(objectOf);
}

function objectOf(members: readonly (readonly [string, Case])[]): Case {
  const json = Object.fromEntries(members.map(([at, one]) => [at, nearly(one.json)]));
  return {
    shape: v.object(Object.fromEntries(members.map(([at, one]) => [at, one.shape]))),
    json: fc.oneof(fc.record(json), fc.record(json, { requiredKeys: [] })),
    spelled: `{${members.map(([at, one]) => `${at}: ${one.spelled}`).join()}}`,
  };
}

function tupleOf(items: readonly Case[]): Case {
  return {
    shape: v.tuple(items.map(({ shape }) => shape)),
    json: fc.oneof(fc.tuple(...items.map(({ json }) => nearly(json))), fc.constantFrom([], [null])),
    spelled: `[${items.map(({ spelled }) => spelled).join()}]`,
  };
}

function bothOf([one, other, isLoose]: readonly [Case, Case, boolean]): Case {
  return {
    shape: v.intersect([isLoose ? v.looseObject(entriesOf(one)) : one.shape, other.shape]),
    json: fc.tuple(one.json, other.json).map((both) => Object.assign({}, ...both)),
    spelled: `${isLoose ? "loose " : ""}${one.spelled} & ${other.spelled}`,
  };
}

function entriesOf({ shape }: Case): v.ObjectEntries {
  return (shape as unknown as { readonly entries: v.ObjectEntries }).entries;
}

function taggedOf([one, other, isChanged]: readonly [Case, Case, boolean]): Case {
  const tagged = v.object({ ...entriesOf(one), t: v.literal("a") });
  const changed = v.pipe(
    tagged,
    v.transform(({ t }) => ({ was: t })),
  );
  const maybe = v.object({ ...entriesOf(other), t: v.optional(v.literal("b")) });
  const withTag = ({ json }: Case, t: string) => json.map((sent) => ({ ...(sent as object), t }));
  return {
    shape: v.variant("t", [isChanged ? changed : tagged, maybe] as never),
    json: fc.oneof(withTag(one, "a"), withTag(other, "b"), other.json),
    spelled: `(${isChanged ? "changed " : ""}${one.spelled} | ${other.spelled})`,
  };
}

/** A shape that takes less than it says, as JSON Schema has no word for what its author's own functions make of a text. */
const makesText = /length|changed|a text/;

it("reads and writes values that fit its schema, and writes the values that it has read", () => {
  let [taken, written] = [0, 0];
  const some = cases.chain((one) =>
    fc.array(one.json, { minLength: 1, maxLength: 4 }).map((values) => ({
      ...one,
      values,
      [fc.toStringMethod]: () => JSON.stringify([one.spelled, values]),
    })),
  );
  fc.assert(
    fc.property(some, ({ shape, spelled, values }) => {
      const route = post(Path.of("a"), { inputs: { a: json(shape) }, returns: Returns.json(shape) }, ({ a }) => a);
      const document = described([route]);
      const compile = compiler(document);
      const { requestBody, responses } = onlyOperation(document);
      const [isSent, isWritten] = [compile(jsonSchema(requestBody)), compile(jsonSchema(responses["200"]))];
      const [reader, writer] = [compileReader(shape), compileWriter(shape)];
      for (const value of values) {
        const shown = JSON.stringify([spelled, value, isSent.schema, isWritten.schema]);
        const read = reader.readText(JSON.stringify(value));
        if (read.ok || !makesText.test(spelled)) expect(read.ok, shown).toBe(isSent(value));
        if (!read.ok) continue;
        taken++;
        const text = writer.write(read.value);
        expect(text, shown).toMatchObject({ ok: true });
        if (!text.ok) continue;
        written++;
        expect(isWritten(JSON.parse(text.value)), `${shown} ${text.value}`).toBe(true);
      }
    }),
    { numRuns: rounds(100) },
  );
  expect(taken).toBeGreaterThan(rounds(50));
  expect(written).toBeGreaterThan(rounds(50));
});
