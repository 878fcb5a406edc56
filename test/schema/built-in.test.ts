import { describe, expect, expectTypeOf, test } from "vitest";
import fc from "fast-check";
import * as v from "valibot";
import * as Shape from "../../src/schema/index.ts";
import { shapeName } from "../../src/schema/valibot.ts";
import { compileReader } from "../../src/schema/read.ts";
import { compileWriter } from "../../src/schema/write.ts";
import { problemsOf, valueOf } from "./reading.ts";

const uuid = "01890a5d-ac96-7a3b-9e5a-5f1c2a7b8c9d";
const notUuid = `This must be a UUID, like ${uuid}.`;
const notDate = "This must be a date written as YYYY-MM-DD, like 2026-09-30.";
const notInstant = "This must be an instant written as RFC 3339 has it, like 2026-09-30T12:00:00Z.";
const outside = "This instant is outside the years 0000 to 9999 once in UTC.";

function written<A>(shape: Shape.Shape<A>, value: A): string {
  const text = compileWriter(shape).write(value);
  return text.ok ? text.value : `refused: ${text.error}`;
}

describe("built-in shapes, read and written", () => {
  test.each([
    [Shape.uuid, uuid.toUpperCase(), uuid, uuid],
    [Shape.uuid, "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000", undefined],
    [Shape.date, "2024-02-29", [2024, 2, 29], "2024-02-29"],
    [Shape.date, "0000-01-01", [0, 1, 1], "0000-01-01"],
    [Shape.instant, "2026-09-30T12:00:00Z", new Date("2026-09-30T12:00:00Z"), "2026-09-30T12:00:00.000Z"],
    [Shape.instant, "2026-09-30T14:00:00.2509+02:00", new Date("2026-09-30T12:00:00.250Z"), "2026-09-30T12:00:00.250Z"],
  ] as readonly [Shape.Shape, string, unknown, string | undefined][])("%#: %s", (shape, sent, value, back) => {
    expect(valueOf(shape, JSON.stringify(sent))).toEqual(value);
    expect(v.parse(shape, sent)).toEqual(value);
    expect(written(shape, value)).toBe(JSON.stringify(back ?? sent));
  });

  test.each([
    [Shape.uuid, '"x"', "malformed", notUuid],
    [Shape.uuid, "3", "unexpected_type", "This must be text, not a number."],
    [Shape.date, '"2026-02-29"', "malformed", notDate],
    [Shape.date, '"2026-2-9"', "malformed", notDate],
    [Shape.instant, '"2026-09-30"', "malformed", notInstant],
    [Shape.instant, '"2026-09-30t12:00:00z"', "malformed", notInstant],
    [Shape.instant, '"0000-01-01T00:00:00+00:01"', "malformed", outside],
    [Shape.instant, '"9999-12-31T23:59:59-00:01"', "malformed", outside],
    [Shape.instant, '"9999-12-31T23:59:59-24:01"', "malformed", notInstant],
    [Shape.int64, '"x"', "unexpected_type", "This must be a whole number, not text."],
    [Shape.int64, "true", "unexpected_type", "This must be a whole number, not true or false."],
    [Shape.int64, "1.5", "unexpected_type", "This must be a whole number, not a fraction."],
    [Shape.int64, "9223372036854775808", "too_large", "This is larger than a 64-bit whole number can hold."],
    [Shape.int64, "-9223372036854775809", "too_small", "This is smaller than a 64-bit whole number can hold."],
    [Shape.int64, '"9223372036854775808"', "too_large", "This is larger than a 64-bit whole number can hold."],
    [Shape.int64, "100000000000000000000000", "too_large", "This is larger than a 64-bit whole number can hold."],
    [Shape.int64, "-1e400", "too_small", "This is smaller than a 64-bit whole number can hold."],
    [
      Shape.int64,
      "9007199254740993.0",
      "too_large",
      "This is larger than a whole number written with a fraction can hold.",
    ],
    [v.pipe(Shape.int64, v.minValue(5n)), "4", "too_small", "This must be at least 5."],
    [
      v.pipe(Shape.instant, v.maxValue(new Date(0))),
      '"1970-01-01T00:00:01Z"',
      "too_large",
      "This must be at most 1970-01-01T00:00:00.000Z.",
    ],
  ] as readonly [Shape.Shape, string, string, string][])("%#: %s is refused", (shape, sent, code, message) => {
    expect(problemsOf(shape, sent)).toEqual([["body", code, message]]);
  });

  test("a value that cannot be written is reported without the value", () => {
    expect(written(Shape.uuid, "x")).toBe("refused: value must be a UUID");
    expect(written(Shape.date, [2026, 2, 30])).toBe("refused: value must be a date of the calendar");
    expect(written(Shape.instant, new Date(Number.NaN))).toBe(
      "refused: value must be a Date in the years 0000 to 9999",
    );
    expect(written(Shape.int64, 2n ** 63n)).toBe("refused: value must be a bigint of 64 bits");
  });

  test("Valibot accepts them as its own schemas", () => {
    const shape = v.object({ id: Shape.uuid, at: v.optional(Shape.instant), n: v.fallback(Shape.int64, 0n) });
    expect(v.parse(shape, { id: uuid, n: "7" })).toEqual({ id: uuid, n: 7n });
    expect(v.safeParse(shape, { id: "S3CR3T", n: 1 }).issues?.[0].message).toBe(notUuid);
    expectTypeOf<v.InferOutput<typeof shape>>().toEqualTypeOf<{ id: string; at?: Date | undefined; n: bigint }>();
    expectTypeOf<v.InferInput<typeof shape>>().toEqualTypeOf<{
      id: string;
      at?: string | undefined;
      n: number | string;
    }>();
    expectTypeOf(Shape.date).toEqualTypeOf<Shape.Shape<readonly [year: number, month: number, day: number], string>>();
  });
});

const shape = v.object({ big: v.array(Shape.int64), number: v.optional(v.number()), any: v.optional(v.any()) });

describe("64-bit numbers in a body: text", () => {
  test("are exact, and other numbers next to them are numbers", () => {
    const sent =
      '{"big":[9223372036854775807,-9223372036854775808,9007199254740993,1000000000000000,1e3],"number":9007199254740993,"any":{"a":[9007199254740993]}}';
    expect(valueOf(shape, sent)).toEqual({
      big: [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 10n ** 15n, 1000n],
      number: 2 ** 53,
      any: { a: [2 ** 53] },
    });
    const words = v.object({
      a: v.literal(1000000000000000),
      b: v.pipe(v.number(), v.integer()),
      c: Shape.int64,
      d: v.custom<number>(Number.isFinite),
    });
    expect(valueOf(words, '{"a":1000000000000000,"b":1000000000000000,"c":1,"d":1000000000000000}')).toEqual({
      a: 1e15,
      b: 1e15,
      c: 1n,
      d: 1e15,
    });
  });

  test("do not change strings that look like them", () => {
    const sent = JSON.stringify({
      big: [],
      any: ["9223372036854775807", '"9223372036854775807', "\\9223372036854775807", { "9223372036854775807": "x" }],
    });
    expect(valueOf(shape, sent)).toEqual(JSON.parse(sent));
  });

  test.each([
    "{9223372036854775807:1}",
    '{"big":[09223372036854775807]}',
    '{"big":[9223372036854775807 1]}',
    '{"big":[1,9223372036854775807.]}',
    '{"big":[--9223372036854775807]}',
    '{"big":[],"any":"\\udc009223372036854775807"}',
    '{"big":[["\udc009223372036854775807"]]}',
    '{"big":[9223372036854775807],"any":["\udc009223372036854775807"]}',
  ])("%s is not JSON with them either", (sent) => {
    expect(problemsOf(shape, sent).map(([, code]) => code)).toEqual(["malformed"]);
  });
});

describe("64-bit numbers in a body: within shapes", () => {
  test("are found inside any kind of shape", () => {
    const tree: v.GenericSchema = v.object({ n: v.optional(Shape.int64), next: v.optional(v.lazy(() => tree)) });
    const shapes: readonly v.GenericSchema[] = [
      v.record(v.string(), v.tuple([v.union([v.string(), v.nullable(Shape.int64)])])),
      v.object({ a: v.tupleWithRest([], Shape.int64) }),
      v.objectWithRest(
        {},
        v.pipe(
          v.array(
            v.pipe(
              Shape.int64,
              v.check(() => true),
            ),
          ),
          v.minLength(1),
        ),
      ),
      v.variant("t", [v.object({ t: v.optional(v.literal("a")), a: v.array(v.fallback(Shape.int64, 0n)) })]),
    ];
    for (const one of shapes) expect(valueOf(one, '{"a":[9223372036854775807]}')).toEqual({ a: [2n ** 63n - 1n] });
    expect(valueOf(tree, '{"next":{"next":{"n":9223372036854775807}}}')).toEqual({
      next: { next: { n: 2n ** 63n - 1n } },
    });
  });

  test("are the same after writing and reading, next to any strings", () => {
    const pair = v.object({ n: Shape.int64, text: v.string() });
    const reader = compileReader(pair);
    const writer = compileWriter(pair);
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom('"\\udc0012"', "\\udc0012", '\\"\\udc00-5"', "\\\\udc001"),
    );
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), text, (n, some) => {
        const json = writer.write({ n, text: some });
        expect(json.ok).toBe(true);
        if (!json.ok) return;
        expect(json.value).toBe(`{"n":${n},"text":${JSON.stringify(some)}}`);
        expect(reader.readText(json.value)).toEqual({ ok: true, value: { n, text: some } });
      }),
    );
  });
});

describe("named", () => {
  test("returns the shape itself and remembers the name", () => {
    const shape = v.object({});
    expect(Shape.named("Empty", shape)).toBe(shape);
    expect(Shape.named("Empty", shape)).toBe(shape);
    expect(shapeName(shape)).toBe("Empty");
    expect(shapeName(v.object({}))).toBeUndefined();
    expect(() => Shape.named("Other", shape)).toThrow(/one shape cannot be both "Empty" and "Other"/);
  });
});
