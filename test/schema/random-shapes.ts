import fc from "fast-check";
import * as v from "valibot";

type Schema = v.GenericSchema;

/** How a counterexample spells a shape. */
export function spelled(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  const {
    type,
    pipe,
    getter,
    entries,
    item,
    items,
    key,
    value,
    wrapped,
    options,
    literal,
    requirement,
    default: instead,
    fallback,
  } = schema as Record<string, unknown>;
  if (Array.isArray(pipe)) return { pipe: pipe.map(spelled), fallback };
  if (typeof getter === "function") return { lazy: spelled(getter()), fallback };
  const list = (parts: unknown): unknown => (Array.isArray(parts) ? parts.map(spelled) : parts);
  const of =
    entries === undefined
      ? undefined
      : Object.fromEntries(Object.entries(entries as object).map(([at, one]) => [at, spelled(one)]));
  return {
    type,
    of,
    item: spelled(item),
    items: list(items),
    key: spelled(key),
    value: spelled(value),
    wrapped: spelled(wrapped),
    options: list(options),
    literal,
    requirement,
    default: instead,
    fallback,
  };
}

/** A shape, what Valibot reads the same way, and JSON that fits it or nearly does. */
export interface Case {
  readonly shape: Schema;
  /** The same rules as Valibot states them: lengths in code points, lists that are no objects, null for what is absent. */
  readonly oracle: Schema;
  readonly json: fc.Arbitrary<unknown>;
}

/** Whether what was read can be written and read again: not where a value is not what was sent for it. */
export function roundTrips(schema: unknown): boolean {
  return !/"transform"|"fallback"|"union"/.test(JSON.stringify(spelled(schema)));
}

/** Whether every member that may be written has a name in the shape. */
export function namesEverything(schema: unknown): boolean {
  return !/"unknown"|"record"|"loose_object"|"transform"|"fallback"/.test(JSON.stringify(spelled(schema)));
}

const names = ["a", "b", "c.d", "é", "x y", "0", "tag"];
const name = fc.constantFrom(...names);
const word = fc.constantFrom("", "a", " a ", "B", "bb", "😀", "😀😀", "ccc");

/** Any JSON, with no name that no object takes. */
export const anyJson: fc.Arbitrary<unknown> = fc
  .jsonValue({ maxDepth: 2 })
  .filter((value) => !/__proto__|constructor|prototype/.test(JSON.stringify(value)));

const plainObject = v.custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value));
const safe = v.pipe(
  v.number(),
  v.check((value) => Number.isSafeInteger(value)),
);
const codePoints = (test: (count: number) => boolean): v.CheckAction<string, undefined> =>
  v.check((text: string) => test([...text].length));

const leaf: fc.Arbitrary<Case> = fc.oneof(
  fc.constant({ shape: v.string(), oracle: v.string(), json: word }),
  fc.tuple(fc.nat(2), fc.nat(3)).map(([least, most]) => ({
    shape: v.pipe(v.string(), v.minLength(least), v.maxLength(most)),
    oracle: v.pipe(
      v.string(),
      codePoints((count) => count >= least),
      codePoints((count) => count <= most),
    ),
    json: word,
  })),
  fc.nat(2).map((least) => ({
    shape: v.pipe(v.string(), v.trim(), v.minLength(least), v.toLowerCase()),
    oracle: v.pipe(
      v.string(),
      v.trim(),
      codePoints((count) => count >= least),
      v.toLowerCase(),
    ),
    json: word,
  })),
  fc.constant({ shape: v.number(), oracle: v.pipe(v.number(), v.finite()), json: fc.double({ noNaN: true }) }),
  fc.integer({ min: -3, max: 3 }).map((bound) => ({
    shape: v.pipe(v.number(), v.gtValue(bound), v.maxValue(bound + 4)),
    oracle: v.pipe(v.number(), v.gtValue(bound), v.maxValue(bound + 4)),
    json: fc.integer({ min: -9, max: 9 }),
  })),
  fc.integer({ min: 1, max: 4 }).map((step) => ({
    shape: v.pipe(v.number(), v.integer(), v.multipleOf(step)),
    oracle: v.pipe(safe, v.multipleOf(step)),
    json: fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constantFrom(0.5, 1e300, 2 ** 53)),
  })),
  fc.constant({ shape: v.boolean(), oracle: v.boolean(), json: fc.boolean() }),
  fc.constant({ shape: v.null(), oracle: v.null(), json: fc.constant(null) }),
  fc.constantFrom("a", 1, true).map((value) => ({
    shape: v.literal(value),
    oracle: v.literal(value),
    json: fc.constant(value),
  })),
  fc.constant({
    shape: v.picklist(["a", "bb", 1]),
    oracle: v.picklist(["a", "bb", 1]),
    json: fc.constantFrom("a", "bb", "c", 1),
  }),
  fc.constant({ shape: v.unknown(), oracle: v.unknown(), json: anyJson }),
  fc.constant({
    shape: v.pipe(
      v.string(),
      v.check((text) => text !== "a"),
      v.transform((text) => text.length),
    ),
    oracle: v.pipe(
      v.string(),
      v.check((text) => text !== "a"),
      v.transform((text) => text.length),
    ),
    json: word,
  }),
);

/** Shapes of every kind, one within another. */
export const cases: fc.Arbitrary<Case> = fc.letrec<{ any: Case }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthIdentifier: "shape" },
    leaf,
    tie("any").map(list),
    fc.tuple(tie("any"), fc.nat(2)).map(([item, least]) => boundedList(item, least)),
    fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map(tuple),
    tie("any").map(record),
    fc
      .tuple(fc.constantFrom("plain", "loose", "strict"), members(tie("any")))
      .map(([kind, entries]) => object(kind, entries)),
    tie("any").map(nullable),
    fc.array(tie("any"), { minLength: 2, maxLength: 3 }).map(union),
    fc.tuple(members(tie("any")), members(tie("any"))).map(([one, other]) => variant(one, other)),
    tie("any").map((inner) => ({
      ...inner,
      shape: v.fallback(inner.shape, "x"),
      oracle: v.fallback(inner.oracle, "x"),
    })),
    tie("any").map((inner) => ({ ...inner, shape: v.lazy(() => inner.shape), oracle: v.lazy(() => inner.oracle) })),
  ),
})).any;

interface Member extends Case {
  readonly name: string;
  readonly kind: "required" | "optional" | "default";
}

function members(inner: fc.Arbitrary<Case>): fc.Arbitrary<Member[]> {
  const member = fc
    .tuple(name, fc.constantFrom<Member["kind"]>("required", "required", "optional", "default"), inner)
    .map(([given, kind, one]) => ({ name: given, kind, ...one }));
  return fc.uniqueArray(member, { selector: (one) => one.name, maxLength: 4 });
}

function object(kind: string, given: readonly Member[]): Case {
  const make = (entries: Record<string, Schema>): Schema =>
    kind === "plain" ? v.object(entries) : kind === "loose" ? v.looseObject(entries) : v.strictObject(entries);
  const shape = make(Object.fromEntries(given.map((one) => [one.name, entry(one, one.shape)])));
  const oracle = make(Object.fromEntries(given.map((one) => [one.name, oracleEntry(one)])));
  return {
    shape,
    oracle: v.pipe(plainObject, oracle as v.GenericSchema<object>),
    json: objectJson(given, kind === "strict" ? 1 : 4),
  };
}

function entry(member: Member, schema: Schema): Schema {
  if (member.kind === "required") return schema;
  return member.kind === "optional" ? v.optional(schema) : v.optional(schema, "a");
}

/** A member that may be absent may be null, unless null is of its shape. */
function oracleEntry(member: Member): Schema {
  const plain = entry(member, member.oracle);
  if (member.kind === "required" || takesNull(member.oracle)) return plain;
  return v.optional(
    v.pipe(
      v.unknown(),
      v.transform((value) => value ?? undefined),
      plain,
    ),
    member.kind === "default" ? "a" : undefined,
  );
}

function takesNull(schema: Schema): boolean {
  const kind = schema as unknown as {
    type: string;
    options?: Schema[];
    getter?: () => Schema;
    pipe?: unknown;
    fallback?: unknown;
  };
  if (kind.fallback !== undefined) return true;
  if (kind.type === "lazy") return takesNull(kind.getter?.() as Schema);
  if (kind.type === "union") return kind.options?.some(takesNull) ?? false;
  return kind.type === "null" || kind.type === "nullable" || kind.type === "unknown";
}

function objectJson(given: readonly Member[], extra: number): fc.Arbitrary<unknown> {
  const own = Object.fromEntries(given.map((one) => [one.name, nearly(one.json)]));
  const required = given.filter((one) => one.kind === "required").map((one) => one.name);
  const whole = fc.record(own, { requiredKeys: required });
  const partly = fc.record(own, { requiredKeys: [] });
  const more = fc
    .tuple(whole, fc.dictionary(name, anyJson, { maxKeys: 2 }))
    .map(([sent, rest]) => ({ ...rest, ...sent }));
  return fc.oneof(
    { weight: 8, arbitrary: whole },
    { weight: 1, arbitrary: partly },
    { weight: extra, arbitrary: more },
  );
}

/** Now and then something else altogether. */
export function nearly(json: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 20, arbitrary: json },
    { weight: 1, arbitrary: anyJson },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

function list(item: Case): Case {
  return {
    shape: v.array(item.shape),
    oracle: v.array(item.oracle),
    json: fc.array(nearly(item.json), { maxLength: 3 }),
  };
}

function boundedList(item: Case, least: number): Case {
  return {
    shape: v.pipe(v.array(item.shape), v.minLength(least), v.maxLength(2)),
    oracle: v.pipe(v.array(item.oracle), v.minLength(least), v.maxLength(2)),
    json: fc.array(nearly(item.json), { maxLength: 3 }),
  };
}

function tuple(items: readonly Case[]): Case {
  // A list may end before items with a fallback.
  const least = items.findLastIndex(({ shape }) => !("fallback" in shape)) + 1;
  const isOfLength = (count: number): boolean => count >= least && count <= items.length;
  const ofLength = v.custom<unknown>((value) => Array.isArray(value) && isOfLength(value.length));
  return {
    shape: v.tuple(items.map((item) => item.shape)),
    oracle: v.pipe(ofLength, v.strictTuple(items.map((item) => item.oracle))),
    json: fc.tuple(...items.map((item) => nearly(item.json))),
  };
}

function record(value: Case): Case {
  return {
    shape: v.record(v.pipe(v.string(), v.maxLength(2)), value.shape),
    oracle: v.pipe(
      plainObject,
      v.record(
        v.pipe(
          v.string(),
          codePoints((count) => count <= 2),
        ),
        value.oracle,
      ),
    ),
    json: fc.dictionary(name, nearly(value.json), { maxKeys: 3 }),
  };
}

function nullable(inner: Case): Case {
  return { shape: v.nullable(inner.shape), oracle: v.nullable(inner.oracle), json: fc.option(inner.json) };
}

function union(options: readonly Case[]): Case {
  return {
    shape: v.union(options.map((option) => option.shape)),
    oracle: v.union(options.map((option) => option.oracle)),
    json: fc.oneof(...options.map((option) => option.json)),
  };
}

function variant(one: readonly Member[], other: readonly Member[]): Case {
  const option = (tag: string, given: readonly Member[], oracle: boolean): never => {
    const rest = given.filter((member) => member.name !== "tag");
    const entries = rest.map((member) => [member.name, oracle ? oracleEntry(member) : entry(member, member.shape)]);
    return v.object({ tag: v.literal(tag), ...Object.fromEntries(entries) }) as never;
  };
  const json = (tag: string, given: readonly Member[]): fc.Arbitrary<unknown> =>
    fc
      .tuple(objectJson(given, 1), nearly(fc.constant(tag)))
      .map(([sent, sentTag]) => ({ ...(sent as object), tag: sentTag }));
  return {
    shape: v.variant("tag", [option("one", one, false), option("two", other, false)]),
    oracle: v.pipe(plainObject, v.variant("tag", [option("one", one, true), option("two", other, true)])),
    json: fc.oneof(json("one", one), json("two", other)),
  };
}
