import { describe, expect, it } from "vitest";
import * as Codec from "../../src/codecs/index.ts";
import { table, valueOf } from "./expectations.ts";

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

  it("has the form of the credentials", () => {
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

  it("reads weights in thousandths, and 1000 without a weight", () => {
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

  it("has an argument only if one was sent", () => {
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

  it("has only the given members", () => {
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

describe("codecs that read a header on several lines", () => {
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
