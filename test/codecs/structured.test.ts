import { describe, expect, it } from "vitest";
import * as Codec from "../../src/codecs/index.ts";
import { expectReads, expectRefuses, valueOf } from "./expectations.ts";
import { corpus } from "./structured-field-corpus.ts";
import type { CorpusRecord } from "./structured-field-corpus.ts";
import { badKeys, badStrings, badTokens, sweeps } from "./structured-field-sweeps.ts";

const { structuredItem, structuredList, structuredDictionary } = Codec;
const none: Codec.StructuredParameters = new Map();

/** What the codec makes of a record: its print, or undefined for malformed. */
function outcome({ kind, text }: CorpusRecord): string | undefined {
  const codec: Codec.AnyCodec = Codec[kind];
  const result = codec.parse(text);
  return result.ok ? codec.print(result.value as never) : undefined;
}

describe("the httpwg corpus", () => {
  it.each(corpus)("CD-130 $kind $text", (record) => expect(outcome(record)).toBe(record.printed));

  it("CD-130 is implemented for every character and size in its generated cases", () => {
    expect(sweeps.filter((record) => outcome(record) !== record.printed)).toEqual([]);
  });

  it.each([
    [1_000_000_000_000_000, ""],
    [-1_000_000_000_000_000, ""],
    [1_000_000_000_000.1, ""],
    [-1_000_000_000_000.1, ""],
    [0.0015, "0.002"],
    [0.0025, "0.002"],
    [-0.0015, "-0.002"],
    [-0.0025, "-0.002"],
    [9.9995, "10.0"],
  ])("CD-130 prints %d as %j", (value, text) => expect(structuredItem.print([value, none])).toBe(text));

  it("CD-130 prints no invalid string, token or key", () => {
    expect(badStrings.filter((text) => structuredItem.print([text, none]) !== "")).toEqual([]);
    expect(badTokens.filter((token) => structuredItem.print([{ token }, none]) !== "")).toEqual([]);
    expect(badKeys.filter((key) => structuredDictionary.print(new Map([[key, [1, none]]])) !== "")).toEqual([]);
    expect(badKeys.filter((key) => structuredList.print([[{ token: "foo" }, new Map([[key, 1]])]]) !== "")).toEqual([]);
  });
});

describe("structuredItem", () => {
  it.each([
    ["CD-118", "1", "1"],
    ["CD-120", '"hello"', '"hello"'],
    ["CD-121", "token;a=1", "token;a=1"],
    ["date with a parameter", "@1659578233;a=@-1", "@1659578233;a=@-1"],
    ["parameter twice", "a;b=1;c;b=2", "a;b=2;c"],
    ["decimal", "-0.50;q=1.000", "-0.5;q=1.0"],
    ["zeros", "-0.0", "0.0"],
    ["control characters shown", '%"%0a%00%7f%ef%bb%bf"', '%"%0a%00%7f%ef%bb%bf"'],
  ])("%s reads %j", (_id, text, printed) => expectReads(structuredItem, text, printed));

  it.each([
    ["CD-123", "1.2345"],
    ["inner list", "(a b)"],
    ["list", "a, b"],
    ["empty", ""],
    ["no key", "a;"],
    ["no value", "a;b="],
    ["time past a Date", "@999999999999999"],
    ["16 digits", "@1000000000000000"],
    ["display past ASCII", '%"ü"'],
    ["no character", '%"%c0%80"'],
    ["surrogate", '%"%ed%a0%80"'],
  ])("%s refuses %j", (_id, text) => expectRefuses(structuredItem, text, "a structured item"));

  it.each([
    ["-7", -7],
    ["-0", 0],
    ["1.5", { thousandths: 1500 }],
    ["-0.05", { thousandths: -50 }],
    ["123456789012.3", { thousandths: 123_456_789_012_300 }],
    ['"a\\"b"', 'a"b'],
    ["a/b", { token: "a/b" }],
    [":AP8=:", new Uint8Array([0, 255])],
    ["?0", false],
    ["@1659578233", new Date("2022-08-04T01:57:13Z")],
    ['%"f%c3%bc"', { display: "fü" }],
  ])("reads %s as %o", (text, value) => expect(valueOf(structuredItem, text)).toEqual([value, none]));

  it.each([
    NaN,
    Infinity,
    -Infinity,
    { thousandths: 0.5 },
    { thousandths: 1e15 },
    { thousandths: NaN },
    { token: "" },
    { display: "\ud800" },
    new Date(NaN),
  ])("prints %o as nothing", (value) => expect(structuredItem.print([value, none])).toBe(""));

  it("prints nothing if a parameter cannot be printed", () => {
    expect(structuredItem.print([1, new Map([["a", { token: "b c" }]])])).toBe("");
  });
});

describe("structuredList", () => {
  it.each([
    ["CD-124", "a, b, (c d)", "a, b, (c d)"],
    ["dates", "@1, (@2 @3)", "@1, (@2 @3)"],
    ["blanks after", "a\t", "a"],
  ])("%s reads %j", (_id, text, printed) => expectReads(structuredList, text, printed));

  it.each([
    ["CD-126", "(a"],
    ["tab before", "\ta"],
    ["nested", "((a))"],
    ["open", "("],
    ["closed", ")"],
    ["comma alone", ","],
    ["comma first", ",a"],
  ])("%s refuses %j", (_id, text) => expectRefuses(structuredList, text, "a structured list"));

  it("distinguishes an inner list from an item", () => {
    expect(valueOf(structuredList, "(a;b 1);c, 2")).toEqual([
      [
        [
          [{ token: "a" }, new Map([["b", true]])],
          [1, none],
        ],
        new Map([["c", true]]),
      ],
      [2, none],
    ]);
  });

  it("prints nothing if a member cannot be printed", () => {
    expect(
      structuredList.print([
        [1, none],
        [[[NaN, none]], none],
      ]),
    ).toBe("");
  });
});

describe("structuredDictionary", () => {
  it.each([
    ["CD-127", "a=1, b, c=?0", "a=1, b, c=?0"],
    ["key twice", "a=1, b, a;c", "a;c, b"],
    ["true said", "a=?1", "a"],
  ])("%s reads %j", (_id, text, printed) => expectReads(structuredDictionary, text, printed));

  it.each([
    ["CD-129", "A=1"],
    ["no value", "a="],
    ["quoted key", '"a"=1'],
    ["comma last", "a,"],
  ])("%s refuses %j", (_id, text) => expectRefuses(structuredDictionary, text, "a structured dictionary"));
});
