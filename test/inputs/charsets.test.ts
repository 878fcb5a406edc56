/** Forms in other charsets than UTF-8: a part's own, that of a field `_charset_` (RFC 7578 §4.6), that of the `Content-Type`. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Codec, Form, Path, Returns, Test, json, post } from "usher-http";
import * as v from "valibot";
import "../support/logs.ts";

const route = post(
  Path.of("x"),
  {
    inputs: { f: Form.optional("f", Codec.string), n: Form.optional("n", Codec.int), l: Form.list("l", Codec.string) },
    returns: Returns.json(v.any()),
  },
  (given) => given,
);
const echo = post(Path.of("echo"), { inputs: { it: json(v.any()) }, returns: Returns.json(v.any()) }, ({ it }) => it);
const app = Test.app([route, echo]);

/** What a handler gets, without what is absent; or the problems. */
async function read(type: string, body: Uint8Array<ArrayBuffer>): Promise<unknown> {
  const answered = await Test.call(app, "POST", "/x", { body, headers: { "content-type": type } });
  const given = answered.json() as { l?: unknown[]; problems?: readonly { at: string; message: string }[] };
  expect(answered.status).toBe(given.problems === undefined ? 200 : 400);
  if (given.problems !== undefined) return given.problems.map(({ at, message }) => `${at}: ${message}`);
  const { l = [], ...others } = given;
  return l.length === 0 ? others : { ...others, l };
}

const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const utf8 = (text: string) => Uint8Array.from(Buffer.from(text));
const utf16 = (text: string) => Uint8Array.from(Buffer.from(text, "utf16le"));
const bigEndian = (text: string) => Uint8Array.from(Buffer.from(text, "utf16le").swap16());
const bytes = (...given: readonly number[]) => Uint8Array.from(given);

/** A part with its `Content-Type`, or without one. */
type Part = readonly [name: string, type: string | undefined, content: Uint8Array<ArrayBuffer>];
const multipart = "multipart/form-data; boundary=b";
function formOf(parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const pieces = parts.flatMap(([name, type, content]) => [
    latin1(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n`),
    latin1(type === undefined ? "\r\n" : `Content-Type: ${type}\r\n\r\n`),
    content,
    latin1("\r\n"),
  ]);
  return Uint8Array.from(Buffer.concat([...pieces, latin1("--b--\r\n")]));
}

const inBytes = (charset: string, content: Uint8Array<ArrayBuffer>): Part => [
  "f",
  `text/plain; charset=${charset}`,
  content,
];
const unsupported = (at: string) => [`${at}: This charset is not supported.`];
const notText = ["form.f: This is not text."];

describe("a part of a multipart form", () => {
  it.each<readonly [what: string, part: Part, expected: unknown]>([
    ["without a charset is UTF-8", ["f", undefined, utf8("größe")], { f: "größe" }],
    ["without a charset that is not UTF-8", ["f", undefined, latin1("größe")], notText],
    ["in UTF-8", inBytes("utf-8", utf8("größe")), { f: "größe" }],
    ["in ISO-8859-1", inBytes("ISO-8859-1", latin1("größe")), { f: "größe" }],
    ["in a quoted charset", inBytes('"iso-8859-1"', latin1("größe")), { f: "größe" }],
    ["in windows-1252", inBytes("windows-1252", bytes(0x80, 0x85, 0x9f, 0x81)), { f: "€…Ÿ\u0081" }],
    ["in koi8-r", inBytes("koi8-r", bytes(0xc4, 0xc1)), { f: "да" }],
    ["in Shift_JIS", inBytes("Shift_JIS", bytes(0x93, 0xfa, 0x96, 0x7b)), { f: "日本" }],
    ["in Shift_JIS that is cut", inBytes("Shift_JIS", bytes(0x93)), notText],
    ["in GB 18030", inBytes("gb18030", bytes(0xd6, 0xd0)), { f: "中" }],
    ["in UTF-16LE", inBytes("UTF-16LE", utf16("größe")), { f: "größe" }],
    ["in UTF-16BE", inBytes("utf-16be", bigEndian("größe")), { f: "größe" }],
    ["in UTF-16 with a BOM", inBytes("utf-16", utf16("\ufeffgröße")), { f: "größe" }],
    [
      "in UTF-16 with a BOM of big-endian, as Java writes it",
      inBytes("UTF-16", bigEndian("\ufeffgröße")),
      { f: "größe" },
    ],
    ["in UTF-16 with an odd byte", inBytes("utf-16le", bytes(0x41, 0, 0x42)), notText],
    ["in UTF-16 with a lone surrogate", inBytes("utf-16le", bytes(0, 0xd8)), notText],
    ["in UTF-8 with a BOM", inBytes("utf-8", utf8("\ufeffa")), { f: "a" }],
    ["without a charset, with a BOM, which stays", ["f", undefined, utf8("\ufeffa")], { f: "\ufeffa" }],
    ["in UTF-8 that is not UTF-8", inBytes("utf-8", latin1("ö")), notText],
    ["in a charset that nobody knows", inBytes("klingon", utf8("a")), unsupported("form.f")],
    ["in UTF-7", inBytes("utf-7", utf8("a")), unsupported("form.f")],
    ["in a charset without a name", inBytes('""', utf8("a")), { f: "a" }],
    ["of a malformed type", ["f", "text/plain; charset", utf8("a")], { f: "a" }],
    ["that is a number", ["n", "text/plain; charset=utf-16le", utf16("12")], { n: 12 }],
    ["that nobody reads, in a charset that nobody knows", ["other", "text/plain; charset=klingon", utf8("a")], {}],
  ])("%s", async (_what, part, expected) => {
    expect(await read(multipart, formOf([part]))).toEqual(expected);
  });

  it("has its own charset before that of _charset_, and that before the one of the Content-Type", async () => {
    const of = (charset: string): Part => ["_charset_", undefined, utf8(charset)];
    const own = inBytes("koi8-r", bytes(0xc4));
    const bare: Part = ["f", undefined, latin1("ö")];
    expect(await read(multipart, formOf([of("iso-8859-1"), own]))).toEqual({ f: "д" });
    expect(await read(multipart, formOf([bare, of("iso-8859-1")]))).toEqual({ f: "ö" });
    expect(await read(`${multipart}; charset=iso-8859-1`, formOf([bare]))).toEqual({ f: "ö" });
    expect(await read(`${multipart}; charset=koi8-r`, formOf([of("iso-8859-1"), bare]))).toEqual({ f: "ö" });
    expect(await read(multipart, formOf([of("klingon"), bare]))).toEqual(unsupported("form._charset_"));
    expect(await read(multipart, formOf([of(""), bare]))).toEqual(notText);
    expect(await read(`${multipart}; charset=klingon`, formOf([bare]))).toEqual(unsupported("header.content-type"));
  });

  it("is one item of a list, each in its own charset", async () => {
    const parts: readonly Part[] = [
      ["l", "text/plain; charset=iso-8859-1", latin1("ö")],
      ["l", "text/plain; charset=utf-16le", utf16("ö")],
      ["l", undefined, utf8("ö")],
    ];
    expect(await read(multipart, formOf(parts))).toEqual({ l: ["ö", "ö", "ö"] });
    expect(await read(multipart, formOf([...parts, ["l", "text/plain; charset=klingon", utf8("a")]]))).toEqual(
      unsupported("form.l"),
    );
  });

  it("names a new unknown charset ten thousand times without a search for each", async () => {
    const parts = Array.from({ length: 8_000 }, (_, i): Part => ["l", `a/b; charset=k${i}`, utf8("a")]);
    expect(await read(multipart, formOf(parts))).toEqual(unsupported("form.l"));
  });
});

const urlencoded = "application/x-www-form-urlencoded";

describe("a urlencoded form", () => {
  it.each<readonly [what: string, type: string, body: Uint8Array<ArrayBuffer>, expected: unknown]>([
    ["in UTF-8", `${urlencoded}; charset=utf-8`, utf8("f=gr%C3%B6%C3%9Fe+1"), { f: "größe 1" }],
    [
      "in ISO-8859-1, escaped",
      `${urlencoded};charset=ISO-8859-1`,
      utf8("f=gr%F6%DFe+1%26%3D%2B%25&l=a"),
      { f: "größe 1&=+%", l: ["a"] },
    ],
    ["in ISO-8859-1, not escaped", `${urlencoded};charset=ISO-8859-1`, latin1("f=größe&n=1"), { f: "größe", n: 1 }],
    ["in ISO-8859-1 whose bytes are UTF-8, too", `${urlencoded};charset=ISO-8859-1`, utf8("f=ö"), { f: "Ã¶" }],
    ["in Shift_JIS, a byte of a character not escaped", `${urlencoded};charset=Shift_JIS`, utf8("f=%83A"), { f: "ア" }],
    ["in Shift_JIS that is cut", `${urlencoded};charset=Shift_JIS`, utf8("f=%83&n=1"), notText],
    ["with the charset of a browser's _charset_", urlencoded, utf8("_charset_=windows-1252&f=%80"), { f: "€" }],
    ["with _charset_ at its end", urlencoded, utf8("f=%80&_charset_=windows-1252"), { f: "€" }],
    ["with _charset_ of UTF-8", urlencoded, utf8("_charset_=UTF-8&f=%C3%B6"), { f: "ö" }],
    [
      "with _charset_ before its Content-Type",
      `${urlencoded};charset=koi8-r`,
      utf8("_charset_=UTF-8&f=%C3%B6"),
      { f: "ö" },
    ],
    ["with an empty _charset_", urlencoded, utf8("_charset_=&f=%C3%B6"), { f: "ö" }],
    [
      "with a text that only looks like it",
      urlencoded,
      utf8("f=_charset_%3Dklingon&a_charset_=klingon"),
      { f: "_charset_=klingon" },
    ],
    ["with _charset_ that nobody knows", urlencoded, utf8("_charset_=klingon&f=a"), unsupported("form._charset_")],
    [
      "with _charset_ of UTF-16, which no browser sends",
      urlencoded,
      utf8("_charset_=utf-16&f=a"),
      unsupported("form._charset_"),
    ],
    [
      "in a charset that nobody knows",
      `${urlencoded}; charset=klingon`,
      utf8("f=a"),
      unsupported("header.content-type"),
    ],
    [
      "in UTF-16, which has no ASCII",
      `${urlencoded}; charset=utf-16le`,
      utf8("f=a"),
      unsupported("header.content-type"),
    ],
    ["with a BOM", urlencoded, utf8("\ufefff=a"), { f: "a" }],
    ["with a BOM and a charset", `${urlencoded}; charset=utf-8`, utf8("\ufefff=a"), { f: "a" }],
    [
      "with bytes that are not UTF-8 behind a BOM",
      urlencoded,
      Uint8Array.from([0xef, 0xbb, 0xbf, ...latin1("f=ö")]),
      notText,
    ],
  ])("%s", async (_what, type, body, expected) => {
    expect(await read(type, body)).toEqual(expected);
  });
});

it("a text of single bytes is the same in both encodings, and by each way to name its charset", async () => {
  // A browser sends CRLF for every line end of a multipart form, and so it stays here.
  const texts = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) });
  await fc.assert(
    fc.asyncProperty(
      texts.filter((text) => !/[\x7f-\x9f]/.test(text)),
      async (text) => {
        const escaped = [...latin1(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
        const given = [
          await read(multipart, formOf([inBytes("iso-8859-1", latin1(text))])),
          await read(
            multipart,
            formOf([
              ["_charset_", undefined, utf8("iso-8859-1")],
              ["f", undefined, latin1(text)],
            ]),
          ),
          await read(`${urlencoded}; charset=latin1`, utf8(`f=${escaped}`)),
          await read(urlencoded, utf8(`f=${escaped}&_charset_=latin1`)),
        ];
        expect(given).toEqual([{ f: text }, { f: text }, { f: text }, { f: text }]);
      },
    ),
    { numRuns: 60 },
  );
});
