import { describe, expect, test } from "vitest";
import * as v from "valibot";
import type { Shape } from "../../src/schema/valibot.ts";
import { problemsOf, valueOf } from "./reading.ts";

const text = v.string();

describe("a pipe: its order", () => {
  test("transforms and checks in its order", () => {
    const shape = v.pipe(text, v.trim(), v.minLength(2), v.toUpperCase(), v.startsWith("A"), v.normalize());
    expect(valueOf(shape, '"  ab "')).toBe("AB");
    expect(problemsOf(shape, '"  a "')).toEqual([["body", "too_short", "This must be at least 2 characters long."]]);
    expect(problemsOf(shape, '"bb"')).toEqual([["body", "malformed", 'This must start with "A".']]);
  });

  test("is joined with the pipe that it begins with", () => {
    const whole = v.pipe(v.number(), v.integer());
    const shape = v.pipe(v.pipe(whole, v.minValue(1)), v.maxValue(0));
    expect(problemsOf(shape, "0.5")).toEqual([
      ["body", "unexpected_type", "This must be a whole number, not a fraction."],
    ]);
    expect(problemsOf(v.pipe(shape, v.multipleOf(7)), "0.5")).toHaveLength(1);
    expect(problemsOf(v.pipe(v.number(), v.minValue(1), v.maxValue(0)), "0.5")).toEqual([
      ["body", "too_small", "This must be at least 1."],
      ["body", "too_large", "This must be at most 0."],
    ]);
  });

  test("continues with the result of an author's transformation", () => {
    const date = v.pipe(
      text,
      v.transform((sent) => new Date(sent)),
      v.date(),
      v.minValue(new Date(0)),
    );
    expect(valueOf(date, '"2026-01-02"')).toEqual(new Date("2026-01-02"));
    expect(problemsOf(date, '"1969-01-01"')).toEqual([
      ["body", "too_small", "This must be at least 1970-01-01T00:00:00.000Z."],
    ]);
    expect(problemsOf(date, '"nonsense"')).toEqual([["body", "malformed", "This could not be read."]]);
    const number = v.pipe(text, v.toNumber(), v.integer(), v.minValue(3));
    expect(valueOf(number, '"4"')).toBe(4);
    expect(problemsOf(number, '"2"')).toEqual([["body", "too_small", "This must be at least 3."]]);
    expect(problemsOf(number, '"x"')).toEqual([["body", "malformed", "This must be a number written as text."]]);
    const inner = v.pipe(text, v.parseJson(), v.object({ a: text }));
    expect(problemsOf(v.object({ x: inner }), '{"x":"{}"}')).toEqual([["body.x.a", "required", "This is required."]]);
  });

  test("reads JSON in a string like a body", () => {
    let calls = 0;
    const counted = v.pipe(
      text,
      v.check(() => ++calls > 0),
    );
    const filter: v.GenericSchema = v.lazy(() =>
      v.union([
        v.object({ op: v.literal("and"), of: v.array(filter), by: v.optional(counted) }),
        v.object({ op: v.literal("or"), of: v.array(filter), by: v.optional(counted) }),
      ]),
    );
    const sent = (json: string): string => JSON.stringify(json);
    const shape = v.pipe(text, v.parseJson(), filter);
    const deep = `${'{"op":"and","of":['.repeat(100)}{"op":"not","of":[],"by":"x"}${"]}".repeat(100)}`;
    expect(problemsOf(shape, sent(deep))).toEqual([["body", "malformed", "This could not be read."]]);
    expect(calls).toBeLessThan(5);
    expect(valueOf(shape, sent('{"op":"or","of":[],"by":null}'))).toEqual({ op: "or", of: [] });
    expect(problemsOf(v.pipe(text, v.parseJson(), v.object({ a: text })), sent('{"a":1}'))).toEqual([
      ["body.a", "unexpected_type", "This must be text, not a number."],
    ]);
    expect(problemsOf(v.pipe(text, v.parseJson(), v.unknown()), sent("[".repeat(600) + "]".repeat(600)))).toEqual([
      ["body", "too_deep", "This is nested more than 512 deep."],
    ]);
    const reviver = (_name: string, value: unknown): unknown => (value === "now" ? new Date(0) : value);
    expect(valueOf(v.pipe(text, v.parseJson({ reviver }), v.date()), sent('"now"'))).toEqual(new Date(0));
  });
});

describe("a pipe: its checks", () => {
  test("runs an author's check on a value that broke a limit, and not on an invalid value", () => {
    const seen: unknown[] = [];
    const shape = v.pipe(
      v.object({ a: v.pipe(text, v.minLength(2)), b: v.optional(text) }),
      v.check((value) => seen.push(value) < 0, "These do not go together."),
    );
    expect(problemsOf(shape, '{"a":"x"}')).toEqual([
      ["body.a", "too_short", "This must be at least 2 characters long."],
      ["body", "malformed", "These do not go together."],
    ]);
    expect(problemsOf(shape, '{"a":1}')).toHaveLength(1);
    expect(problemsOf(shape, "1")).toHaveLength(1);
    expect(seen).toEqual([{ a: "x" }]);
  });

  test("forwards an issue to a member, also of an incomplete value", () => {
    const shape = v.pipe(
      v.object({ password: text, again: text, age: v.number() }),
      v.forward(
        v.partialCheck([["password"], ["again"]], (value) => value.password === value.again, "These differ."),
        ["again"],
      ),
    );
    expect(problemsOf(shape, '{"password":"a","again":"b","age":1}')).toEqual([
      ["body.again", "malformed", "These differ."],
    ]);
    expect(problemsOf(shape, '{"password":"a","again":"b"}')).toEqual([
      ["body.age", "required", "This is required."],
      ["body.again", "malformed", "These differ."],
    ]);
  });

  test("checks parts of incomplete values once, however deep", () => {
    let checks = 0;
    const tree: v.GenericSchema = v.pipe(
      v.object({ a: text, next: v.optional(v.lazy(() => tree)) }),
      v.partialCheck([["a"]], () => ++checks > 101, "No."),
    );
    const problems = problemsOf(tree, `${'{"a":"x","next":'.repeat(100)}{"a":"x","next":7}${"}".repeat(100)}`);
    expect(checks).toBe(101);
    expect(problems.filter(([, , message]) => message === "No.")).toHaveLength(101);
    expect(problemsOf(v.array(tree), '[{"a":"x","next":1},{"a":"x","next":1}]')).toHaveLength(2);
  });

  test("reports the items that a check refused", () => {
    const shape = v.object({
      list: v.pipe(
        v.array(v.number()),
        v.checkItems((item) => item % 2 === 0),
      ),
    });
    expect(problemsOf(shape, '{"list":[2,3,5]}')).toEqual([
      ["body.list[1]", "malformed", "This could not be read."],
      ["body.list[2]", "malformed", "This could not be read."],
    ]);
  });
});

describe("an author's own messages", () => {
  test.each([
    ["of a schema", v.string("Say it in words."), "3", "unexpected_type", "Say it in words."],
    ["of a bound", v.pipe(text, v.minLength(2, "Longer, please.")), '"a"', "too_short", "Longer, please."],
    ["of a whole number", v.pipe(v.number(), v.integer("No halves.")), "0.5", "unexpected_type", "No halves."],
    ["of words", v.picklist(["a"], "Only a."), '"b"', "unknown_word", "Only a."],
    ["of a format", v.pipe(text, v.email("No address.")), '"b"', "malformed", "No address."],
    ["of a check", v.pipe(text, v.regex(/^a/, "Begin with a.")), '"b"', "malformed", "Begin with a."],
    ["of a custom shape", v.custom<string>(() => false, "Never."), '"b"', "malformed", "Never."],
    [
      "as a function",
      v.pipe(
        text,
        v.minLength(2, (issue) => `At least ${issue.requirement}.`),
      ),
      '"a"',
      "too_short",
      "At least 2.",
    ],
    ["as a schema's function", v.number((issue) => `Not ${issue.expected}.`), '"a"', "unexpected_type", "Not number."],
    ["of a nullable one", v.nullable(v.string("Words.")), "3", "unexpected_type", "Words."],
    ["of a union", v.union([text, v.null()], "Words or nothing."), "3", "unexpected_type", "Words or nothing."],
    ["of an object", v.object({}, "A thing."), "[]", "unexpected_type", "A thing."],
  ] as readonly [string, Shape, string, string, string][])("%s", (_name, shape, sent, code, message) => {
    expect(problemsOf(shape, sent)).toEqual([["body", code, message]]);
  });
});

describe("the messages of a language, as of @valibot/i18n", () => {
  test("are the framework's sentences where they quote the value", () => {
    v.setSpecificMessage(v.email, ({ received }) => `Ungültige E-Mail: ${received} erhalten`, "de");
    v.setSchemaMessage(({ expected, received }) => `Ungültiger Typ: ${expected} erwartet, ${received} erhalten`, "de");
    v.setGlobalMessage(({ received }) => `Ungültig: ${received} erhalten`, "de");
    v.setGlobalConfig({ lang: "de" });
    try {
      const email = "This must be an email address, like lee@example.com.";
      expect(problemsOf(v.pipe(text, v.email()), '"S3CR3T"')).toEqual([["body", "malformed", email]]);
      expect(
        problemsOf(
          v.custom(() => false),
          '"S3CR3T"',
        ),
      ).toEqual([["body", "malformed", "This could not be read."]]);
      expect(problemsOf(v.pipe(text, v.regex(/^a/)), '"S3CR3T"')).toEqual([
        ["body", "malformed", "This could not be read."],
      ]);
      const under = v.pipe(
        v.number(),
        v.check((value) => value < 5, "Das muss unter 5 sein."),
      );
      expect(problemsOf(under, "5")).toEqual([["body", "malformed", "Das muss unter 5 sein."]]);
    } finally {
      v.deleteGlobalConfig();
      v.deleteGlobalMessage("de");
      v.deleteSchemaMessage("de");
      v.deleteSpecificMessage(v.email, "de");
    }
  });
});

describe("checks without a message of their author", () => {
  test.each([
    ["regex", v.pipe(text, v.regex(/^a/))],
    [
      "check",
      v.pipe(
        text,
        v.check(() => false),
      ),
    ],
    [
      "rawCheck",
      v.pipe(
        text,
        v.rawCheck(({ addIssue }) => addIssue()),
      ),
    ],
    ["excludes", v.pipe(text, v.excludes("S3"))],
    ["custom", v.custom(() => false)],
    ["notValue", v.pipe(text, v.notValue("S3CR3T"))],
    [
      "transform that fails",
      v.pipe(
        text,
        v.rawTransform(({ addIssue, NEVER }) => (addIssue(), NEVER)),
      ),
    ],
  ] as readonly [string, Shape][])("%s says no more than that it could not be read", (_name, shape) => {
    expect(problemsOf(shape, '"S3CR3T"')).toEqual([["body", "malformed", "This could not be read."]]);
  });
});

type Formats = readonly [string, v.GenericValidation<string>][];
const formats: Formats = [
  ["base64", v.base64()],
  ["bic", v.bic()],
  ["cuid2", v.cuid2()],
  ["decimal", v.decimal()],
  ["domain", v.domain()],
  ["email", v.email()],
  ["hexColor", v.hexColor()],
  ["hexadecimal", v.hexadecimal()],
  ["ip", v.ip()],
  ["ipv4", v.ipv4()],
  ["ipv6", v.ipv6()],
  ["isoDate", v.isoDate()],
  ["isoDateTime", v.isoDateTime()],
  ["isoDateTimeSecond", v.isoDateTimeSecond()],
  ["isoTime", v.isoTime()],
  ["isoTimeSecond", v.isoTimeSecond()],
  ["isoTimestamp", v.isoTimestamp()],
  ["isoWeek", v.isoWeek()],
  ["isrc", v.isrc()],
  ["mac", v.mac()],
  ["mac48", v.mac48()],
  ["mac64", v.mac64()],
  ["octal", v.octal()],
  ["rfcEmail", v.rfcEmail()],
  ["slug", v.slug()],
  ["ulid", v.ulid()],
  ["url", v.url()],
  ["uuid", v.uuid()],
];

describe("formats", () => {
  test.each(formats)("%s has a message, and the example in it is valid", (_name, format) => {
    const shape = v.pipe(text, format);
    const [problem] = problemsOf(shape, '"§ S3CR3T"');
    expect(problem?.[1]).toBe("malformed");
    expect(problem?.[2]).toMatch(/^This must be /);
    const example = /like (\S+?)(?: or \S+)?\.$/.exec(problem?.[2] ?? "")?.[1];
    if (example !== undefined) expect(valueOf(shape, JSON.stringify(example))).toBe(example);
  });

  test.each([
    ["bytes", v.pipe(text, v.maxBytes(1)), '"é"', "too_long", "This must be at most 1 byte long."],
    ["words", v.pipe(text, v.minWords("en", 2)), '"one"', "too_short", "This must be at least 2 words long."],
    ["graphemes", v.pipe(text, v.graphemes(2)), '"abc"', "too_long", "This must be exactly 2 graphemes long."],
    ["a value", v.pipe(v.number(), v.value(3)), "4", "unknown_word", "This must be 3."],
    ["values", v.pipe(v.number(), v.values([3, 5])), "4", "unknown_word", "This must be one of 3 or 5."],
    ["an end", v.pipe(text, v.endsWith("b")), '"a"', "malformed", 'This must end with "b".'],
  ] as readonly [string, Shape, string, string, string][])("%s", (_name, shape, sent, code, message) => {
    expect(problemsOf(shape, sent)).toEqual([["body", code, message]]);
  });
});
