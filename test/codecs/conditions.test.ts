import { describe, expect, it, onTestFinished, vi } from "vitest";
import * as Codec from "../../src/codecs/index.ts";
import { table, valueOf } from "./expectations.ts";

describe("entityTag", () => {
  table(Codec.entityTag, "an entity tag", {
    reads: [
      ["strong", '"v1"', '"v1"'],
      ["weak", 'W/"v1"', 'W/"v1"'],
      ["empty", '""', '""'],
      ["past ASCII", '"\xe9"', '"\xe9"'],
      ["a backslash is itself", '"a\\"', '"a\\"'],
    ],
    refuses: [
      ["no quotes", "v1"],
      ["case of W", 'w/"v1"'],
      ["blank", 'W/ "v1"'],
      ["blank in the tag", '"a b"'],
      ["two", '"a", "b"'],
      ["any", "*"],
      ["open", '"a'],
      ["empty text", ""],
    ],
  });
});

describe("entityTags", () => {
  table(Codec.entityTags, "a list of entity tags", {
    reads: [
      ["FV-57", '"a,b", "c"', '"a,b", "c"'],
      ["FV-58", "*", "*"],
      ["weak ones", 'W/"a" ,"b",, W/"c"', 'W/"a", "b", W/"c"'],
    ],
    refuses: [
      ["FV-60", "abc"],
      ["empty", ""],
      ["empty elements", " , "],
      ["any beside one", '*, "a"'],
      ["one wrong", '"a", b'],
      ["no comma", '"a" "b"'],
    ],
  });

  it("gives each tag without its quotes", () => {
    expect(valueOf(Codec.entityTags, '"a", W/"b"')).toEqual([
      { tag: "a", weak: false },
      { tag: "b", weak: true },
    ]);
  });

  it.each(["a b", 'a"b', "\n", "\u0100"])("prints %j as nothing", (tag) => {
    expect(Codec.entityTag.print({ tag, weak: false })).toBe("");
    expect(Codec.entityTags.print([{ tag, weak: true }])).toBe("");
  });
});

describe("httpDate", () => {
  const nineties = "Sun, 06 Nov 1994 08:49:37 GMT";
  table(Codec.httpDate, "a date of HTTP, as Sun, 06 Nov 1994 08:49:37 GMT", {
    reads: [
      ["FV-48", nineties, nineties],
      ["FV-49", "Sunday, 06-Nov-94 08:49:37 GMT", nineties],
      ["asctime", "Sun Nov  6 08:49:37 1994", nineties],
      ["asctime", "Wed Nov 16 08:49:37 1994", "Wed, 16 Nov 1994 08:49:37 GMT"],
      ["FV-51", "Wed, 31 Dec 2008 23:59:60 GMT", "Thu, 01 Jan 2009 00:00:00 GMT"],
      ["the day's name is not compared", "Mon, 06 Nov 1994 08:49:37 GMT", nineties],
      ["early", "Sat, 01 Jan 0005 00:00:00 GMT", "Sat, 01 Jan 0005 00:00:00 GMT"],
      ["a leap day", "Thu, 29 Feb 2024 00:00:00 GMT", "Thu, 29 Feb 2024 00:00:00 GMT"],
    ],
    refuses: [
      ["FV-54", "Wed, 30 Feb 1994 00:00:00 GMT"],
      ["FV-55", "Sun, 06 Nov 1994 08:49:37 UTC"],
      ["no leap day", "Wed, 29 Feb 2023 00:00:00 GMT"],
      ["hour", "Sun, 06 Nov 1994 24:00:00 GMT"],
      ["minute", "Sun, 06 Nov 1994 08:60:00 GMT"],
      ["second", "Sun, 06 Nov 1994 08:49:61 GMT"],
      ["day", "Sun, 00 Nov 1994 08:49:37 GMT"],
      ["case", "sun, 06 nov 1994 08:49:37 gmt"],
      ["one digit", "Sun, 6 Nov 1994 08:49:37 GMT"],
      ["long name", "Sunday, 06 Nov 1994 08:49:37 GMT"],
      ["no name", "06 Nov 1994 08:49:37 GMT"],
      ["offset", "Sun, 06 Nov 1994 08:49:37 +0000"],
      ["past the last year", "Fri, 31 Dec 9999 23:59:60 GMT"],
      ["ISO 8601", "1994-11-06T08:49:37Z"],
      ["more", `${nineties} `],
      ["empty", ""],
    ],
  });

  it("FV-52 has a two-digit year within 50 years ahead in this century, and otherwise in the one before", () => {
    vi.setSystemTime("2026-11-23T00:00:00Z");
    onTestFinished(() => void vi.useRealTimers());
    const year = (two: string) => valueOf(Codec.httpDate, `Sunday, 06-Nov-${two} 08:49:37 GMT`).getUTCFullYear();
    expect(["00", "26", "76", "77", "99"].map(year)).toEqual([2000, 2026, 2076, 1977, 1999]);
  });

  it("prints what has no date of HTTP as nothing", () => {
    expect(Codec.httpDate.print(new Date(Number.NaN))).toBe("");
    expect(Codec.httpDate.print(new Date("+010000-01-01T00:00:00Z"))).toBe("");
    expect(Codec.httpDate.print(new Date("-000001-01-01T00:00:00Z"))).toBe("");
  });
});

describe("byteRanges", () => {
  const most = Number.MAX_SAFE_INTEGER;
  table(Codec.byteRanges, "ranges, as bytes=0-499", {
    reads: [
      ["FV-61", "bytes=0-499, -500, 9500-", "bytes=0-499, -500, 9500-"],
      ["FV-63", "pages=1-2", "pages=1-2"],
      ["FV-66", "bytes=99999999999999999999-", `bytes=${most}-`],
      ["FV-66", "bytes=1-99999999999999999999", `bytes=1-${most}`],
      ["case", "Bytes=0-0", "bytes=0-0"],
      ["one byte", "bytes=0-0", "bytes=0-0"],
      ["no last byte", "bytes=-0", "bytes=-0"],
      ["empty elements", "bytes=,0-1,,2-3,", "bytes=0-1, 2-3"],
    ],
    refuses: [
      ["FV-64", "bytes=5-2"],
      ["no unit", "0-499"],
      ["no range", "bytes="],
      ["no range", "bytes=,"],
      ["no position", "bytes=-"],
      ["blank", "bytes = 0-1"],
      ["sign", "bytes=+1-2"],
      ["hexadecimal", "bytes=0x1-2"],
      ["one wrong", "bytes=0-1, x"],
      ["three", "bytes=0-1-2"],
      ["nothing of another unit", "pages="],
      ["empty", ""],
    ],
  });

  it("has a range by its first and last byte, and the last ones by their count", () => {
    expect(valueOf(Codec.byteRanges, "bytes=0-499, -500, 9500-")).toEqual({
      unit: "bytes",
      ranges: [{ first: 0, last: 499 }, { suffix: 500 }, { first: 9500 }],
    });
    expect(valueOf(Codec.byteRanges, "Pages=1-2, x")).toEqual({ unit: "pages", unread: "1-2, x" });
  });

  it.each<Codec.Ranges>([
    { unit: "bytes", ranges: [] },
    { unit: "bytes", ranges: [{ first: -1 }] },
    { unit: "bytes", ranges: [{ first: 0.5 }] },
    { unit: "bytes", ranges: [{ first: 2, last: 1 }] },
    { unit: "bytes", ranges: [{ suffix: Number.NaN }] },
    { unit: "a b", unread: "1" },
    { unit: "pages", unread: "" },
    { unit: "pages", unread: "1\n" },
    { unit: "Bytes", unread: "0-1" },
  ])("prints what no header can say as nothing (%#)", (value) => expect(Codec.byteRanges.print(value)).toBe(""));
});
