import { describe, expect, it, onTestFinished, vi } from "vitest";
import * as Codec from "../../src/codecs/index.ts";
import { expectReads, expectRefuses, valueOf } from "./expectations.ts";

type Reads = readonly (readonly [id: string, text: string, printed: string])[];
type Refuses = readonly (readonly [id: string, text: string])[];

function table<A>(codec: Codec.Codec<A>, expects: string, rows: { reads: Reads; refuses: Refuses }): void {
  it.each(rows.reads)("%s reads %j", (_id, text, printed) => {
    expectReads(codec, text, printed);
  });
  it.each(rows.refuses)("%s refuses %j", (_id, text) => {
    expectRefuses(codec, text, expects);
  });
}

describe("mediaType", () => {
  table(Codec.mediaType, "a media type", {
    reads: [
      ["CD-93", "application/json", "application/json"],
      ["FV-01", 'text/plain; a="b\\"c\\\\d"', 'text/plain;a="b\\"c\\\\d"'],
      ["FV-03", "text/plain; CharSet=utf-8", "text/plain;charset=utf-8"],
      ["FV-04", "text/plain ;charset=utf-8", "text/plain;charset=utf-8"],
      ["FV-06", "Application/JSON", "application/json"],
      ["quoted token", 'text/plain;charset="UTF-8"', "text/plain;charset=UTF-8"],
      ["suffix", "application/problem+json", "application/problem+json"],
      ["empty parameter", "text/html; ;a=b;", "text/html;a=b"],
      ["empty value", 'text/html;a=""', 'text/html;a=""'],
      ["past ASCII", 'text/html;a="\xe9"', 'text/html;a="\xe9"'],
    ],
    refuses: [
      ["CD-94", "text"],
      ["CD-96", "/html"],
      ["CD-97", ""],
      ["FV-07", 'text/html;a="b'],
      ["FV-07", 'text/html;a="b\\'],
      ["FV-09", "text/html;a=1;A=2"],
      ["FV-10", "text/html;charset = utf-8"],
      ["FV-12", "text"],
      ["no subtype", "text/"],
      ["two slashes", "text/html/x"],
      ["blank", " text/html"],
      ["blank", "text/html "],
      ["blank", "text / html"],
      ["no value", "text/html;charset"],
      ["no value", "text/html;charset="],
      ["two", "text/html, text/plain"],
      ["control", 'text/html;a="\u0007"'],
      ["control", 'text/html;a="\\\u0007"'],
      ["past Latin-1", 'text/html;a="\u0100"'],
      ["after a quote", 'text/html;a="b"c'],
    ],
  });

  it("has its parameters in the order sent, under lower-case names", () => {
    const { type, subtype, parameters } = valueOf(Codec.mediaType, "Text/HTML;B=2;a=One");
    expect([type, subtype, ...parameters]).toEqual(["text", "html", ["b", "2"], ["a", "One"]]);
  });

  it.each([
    { type: "te xt", subtype: "html", parameters: new Map() },
    { type: "text", subtype: "", parameters: new Map() },
    { type: "text", subtype: "html;a=b", parameters: new Map() },
    { type: "text", subtype: "html", parameters: new Map([["a b", "c"]]) },
    { type: "text", subtype: "html", parameters: new Map([["a", "b\r\nc"]]) },
    {
      type: "text",
      subtype: "html",
      parameters: new Map([
        ["a", "1"],
        ["A", "2"],
      ]),
    },
  ])("prints what no header can say as nothing (%#)", (value) => expect(Codec.mediaType.print(value)).toBe(""));
});

describe("credentials", () => {
  table(Codec.credentials, "credentials", {
    reads: [
      ["CD-99", "Basic dXNlcjpwYXNz", "basic dXNlcjpwYXNz"],
      ["FV-13", "BeArEr abc", "bearer abc"],
      ["FV-15", "Basic dXNlcjpwYXNz==", "basic dXNlcjpwYXNz=="],
      ["FV-16", 'Digest username="Mufasa", nc=00000001', "digest username=Mufasa, nc=00000001"],
      ["FV-18", "Negotiate", "negotiate"],
      ["spaces", "Bearer    abc", "bearer abc"],
      ["bad white space", 'X Realm = "a b" ,, b =c', 'x realm="a b", b=c'],
      ["padding alone", "X a=", "x a="],
    ],
    refuses: [
      ["CD-100", ""],
      ["FV-19", "Bearer a b"],
      ["IN-31", "Bearer a b"],
      ["blank", " Bearer abc"],
      ["blank", "Bearer "],
      ["blank", "Bearer abc "],
      ["tab", "Bearer\tabc"],
      ["comma", "Bearer abc, def"],
      ["two credentials", "Basic YQ==, Bearer b"],
      ["parameter twice", "Digest a=1, A=2"],
      ["mixed", "Digest abc, a=1"],
      ["no scheme", "=abc"],
      ["not token68", "Bearer a\u00e9"],
      ["unterminated", 'Digest a="b'],
    ],
  });

  it("says which of the two forms it has", () => {
    expect(valueOf(Codec.credentials, "Bearer a=")).toEqual({
      scheme: "bearer",
      value: { kind: "token68", token: "a=" },
    });
    expect(valueOf(Codec.credentials, "Digest A=b")).toEqual({
      scheme: "digest",
      value: { kind: "parameters", parameters: new Map([["a", "b"]]) },
    });
  });

  it.each([
    { scheme: "bearer", value: { kind: "token68", token: "a b" } },
    { scheme: "bearer", value: { kind: "token68", token: "" } },
    { scheme: "", value: { kind: "token68", token: "a" } },
    { scheme: "digest", value: { kind: "parameters", parameters: new Map([["a", "\n"]]) } },
  ] as const)("prints what no header can say as nothing (%#)", (value) =>
    expect(Codec.credentials.print(value)).toBe(""),
  );
});

describe("accept", () => {
  table(Codec.accept, "an Accept value", {
    reads: [
      ["CD-102", "text/html, application/json;q=0.9", "text/html, application/json;q=0.9"],
      ["CD-103", "*/*", "*/*"],
      ["FV-21", "text/html;q=0.5, application/json", "text/html;q=0.5, application/json"],
      ["FV-22", "text/html;Q=0.5", "text/html;q=0.5"],
      ["FV-24", "text/html;level=1;q=0.2", "text/html;level=1;q=0.2"],
      ["FV-25", "*/*;q=0.1, text/*", "*/*;q=0.1, text/*"],
      ["empty", "", ""],
      ["empty elements", " , text/html,,\ttext/plain ,", "text/html, text/plain"],
      ["weights", "a/b;q=0, c/d;q=0.001, e/f;q=1.000, g/h ; q=0.", "a/b;q=0, c/d;q=0.001, e/f, g/h;q=0"],
      ["comma in quotes", 'a/b;c="d, e/f"', 'a/b;c="d, e/f"'],
    ],
    refuses: [
      ["CD-105", "text/html;q=abc"],
      ["FV-27", "text/html;q=1.5"],
      ["FV-28", "text/html;q=1.001"],
      ["four digits", "text/html;q=0.1234"],
      ["two digits", "text/html;q=00"],
      ["no digit", "text/html;q=.5"],
      ["minus", "text/html;q=-0"],
      ["quoted", 'text/html;q="0.5"'],
      ["empty", "text/html;q="],
      ["after the weight", "text/html;q=0.5;level=1"],
      ["after the weight", "text/html;q=0.5;"],
      ["no subtype", "text"],
      ["star alone", "*"],
      ["any type of one subtype", "*/html"],
      ["blanks", "text/html;q = 0.5"],
      ["no comma", "text/html text/plain"],
    ],
  });

  it("counts weights in thousandths, 1000 where none is given", () => {
    const weights = valueOf(Codec.accept, "a/a;q=0.5, b/b, c/c;q=0.05, d/d;q=0").map((range) => range.weight);
    expect(weights).toEqual([500, 1000, 50, 0]);
  });

  it.each([
    { type: "*", subtype: "html", parameters: new Map(), weight: 1000 },
    { type: "text", subtype: "html", parameters: new Map([["Q", "1"]]), weight: 1000 },
    { type: "text", subtype: "html", parameters: new Map(), weight: 1001 },
    { type: "text", subtype: "html", parameters: new Map(), weight: 0.5 },
  ])("prints a list with what no header can say as nothing (%#)", (range) => {
    expect(Codec.accept.print([{ type: "text", subtype: "css", parameters: new Map(), weight: 1 }, range])).toBe("");
  });
});

describe("weighted", () => {
  table(Codec.weighted, "a list of weighted tokens", {
    reads: [
      ["CD-106", "gzip, br;q=0.5", "gzip, br;q=0.5"],
      ["case", "GZip;Q=0.25, en-GB", "gzip;q=0.25, en-gb"],
      ["any", "*;q=0", "*;q=0"],
      ["empty", "", ""],
      ["blanks", "gzip ; q=1.0 ,br", "gzip, br"],
    ],
    refuses: [
      ["CD-108", "gzip;q=1.5"],
      ["CD-109", "gzip;q=x"],
      ["FV-30", "gzip;level=1"],
      ["twice", "gzip;q=1;q=1"],
      ["no token", ";q=1"],
      ["two tokens", "gzip br"],
      ["no value", "gzip;q"],
      ["slash", "text/html"],
    ],
  });
  it("prints what no header can say as nothing", () => {
    expect(Codec.weighted.print([{ token: "a b", weight: 1 }])).toBe("");
    expect(Codec.weighted.print([{ token: "a", weight: NaN }])).toBe("");
  });
});

describe("cacheControl", () => {
  table(Codec.cacheControl, "a Cache-Control value", {
    reads: [
      ["CD-111", "max-age=60, private", "max-age=60, private"],
      ["FV-40", "Max-Age=60, No-Store", "max-age=60, no-store"],
      ["FV-42", "no-cache, , private", "no-cache, private"],
      ["FV-43", 'max-age="60"', "max-age=60"],
      ["FV-45", "max-age=5, max-age=10", "max-age=5, max-age=10"],
      ["field names", 'private="set-cookie", no-cache="a, b"', 'private="set-cookie", no-cache="a, b"'],
      ["empty argument", 'a=""', 'a=""'],
      ["empty", "", ""],
    ],
    refuses: [
      ["CD-112", 'max-age="60'],
      ["FV-46", "max-age = 60"],
      ["no argument", "max-age="],
      ["no directive", "=60"],
      ["no comma", "private no-store"],
      ["semicolon", "private;no-store"],
    ],
  });

  it("has an argument only where one was sent", () => {
    expect(valueOf(Codec.cacheControl, 'No-Store, a="b c"')).toEqual([
      { directive: "no-store" },
      { directive: "a", argument: "b c" },
    ]);
  });

  it("prints what no header can say as nothing", () => {
    expect(Codec.cacheControl.print([{ directive: "a b" }])).toBe("");
    expect(Codec.cacheControl.print([{ directive: "a" }, { directive: "b", argument: "\n" }])).toBe("");
  });
});

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

  it("FV-52 has a year of two digits within 50 years ahead in this century, and past it in the one before", () => {
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

describe("forwarded", () => {
  table(Codec.forwarded, "a Forwarded value", {
    reads: [
      ["CD-114", "for=192.0.2.60;proto=https;by=203.0.113.43", "for=192.0.2.60;by=203.0.113.43;proto=https"],
      ["CD-115", 'for="[2001:db8::1]"', 'for="[2001:db8::1]"'],
      ["FV-67", "for=192.0.2.60;proto=http;by=203.0.113.43", "for=192.0.2.60;by=203.0.113.43;proto=http"],
      ["FV-69", 'for="[2001:db8:cafe::17]:4711"', 'for="[2001:db8:cafe::17]:4711"'],
      ["FV-70", "for=unknown", "for=unknown"],
      [
        "hops",
        'For=192.0.2.43, FOR="198.51.100.17:80";Proto=HTTPS',
        'for=192.0.2.43, for="198.51.100.17:80";proto=https',
      ],
      ["obfuscated", 'for=_gazonk;by="_b:_p"', 'for=_gazonk;by="_b:_p"'],
      ["host", 'host="example.com:8080"', 'host="example.com:8080"'],
      ["extension", 'for=_a;Secret="x y"', 'for=_a;secret="x y"'],
      ["empty pair", ";for=_a;;proto=http;", "for=_a;proto=http"],
      ["IPv4 in IPv6", 'for="[::ffff:192.0.2.1]"', 'for="[::ffff:192.0.2.1]"'],
    ],
    refuses: [
      ["CD-117", "for="],
      ["FV-72", "for=[2001:db8::1]"],
      ["FV-73", 'for="192.0.2.1:70000"'],
      ["FV-75", "proto=1http"],
      ["FV-76", "for=192.0.2.1;for=192.0.2.2"],
      ["empty", ""],
      ["empty", " , "],
      ["no pair", ";"],
      ["empty value", 'for=""'],
      ["no number is 256", "for=192.0.2.256"],
      ["three numbers", "for=192.0.2"],
      ["leading zero", "for=192.0.2.01"],
      ["IPv6 without brackets", 'for="2001:db8::1"'],
      ["no IPv6", 'for="[2001:db8::1::2]"'],
      ["no IPv6", 'for="[12345::]"'],
      ["IPv6 with a zone", 'for="[fe80::1%25eth0]"'],
      ["a name", "for=example.com"],
      ["port of six digits", 'for="192.0.2.1:000080"'],
      ["empty port", 'for="192.0.2.1:"'],
      ["by is a node", "by=example.com"],
      ["host with a path", 'host="example.com/x"'],
      ["host with a blank", 'host="a b"'],
      ["empty host", 'host=""'],
      ["blanks", "for=_a; proto=http"],
      ["blanks", "for = _a"],
      ["no value", "for"],
    ],
  });

  it("has only what was said", () => {
    const value = valueOf(Codec.forwarded, "host=example.com;x=1, for=_a");
    expect(value).toEqual([
      { host: "example.com", extensions: new Map([["x", "1"]]) },
      { for: "_a", extensions: new Map() },
    ]);
  });

  it.each([
    { extensions: new Map() },
    { for: "example.com", extensions: new Map() },
    { proto: "1", extensions: new Map() },
    { extensions: new Map([["For", "192.0.2.1"]]) },
    { extensions: new Map([["a", "\n"]]) },
  ])("prints what no header can say as nothing (%#)", (element) => expect(Codec.forwarded.print([element])).toBe(""));
  it("prints no elements as nothing", () => expect(Codec.forwarded.print([])).toBe(""));
});

describe("which codecs read a header sent on several lines", () => {
  it.each([
    ["mediaType", false],
    ["credentials", false],
    ["accept", true],
    ["weighted", true],
    ["cacheControl", true],
    ["entityTag", false],
    ["entityTags", true],
    ["httpDate", false],
    ["byteRanges", false],
    ["forwarded", true],
    ["structuredItem", false],
    ["structuredList", true],
    ["structuredDictionary", true],
    ["string", false],
  ] as const)("%s: %s", (name, list) => {
    expect(Codec[name].list ?? false).toBe(list);
    expect(Codec[name].text).toEqual({ type: "string" });
  });
});
