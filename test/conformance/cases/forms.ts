/** Forms and files, urlencoded and multipart (rows FM). */
import type { MessageCase } from "../case.ts";
import { malformed, problems, text, tooLong, unsupportedType } from "../expected.ts";

const urlencoded = "application/x-www-form-urlencoded";
const multipart = "multipart/form-data; boundary=b";
const lines = (...lines: readonly string[]): string => lines.join("\r\n");
const field = (name: string, value: string): readonly string[] => [
  "--b",
  `Content-Disposition: form-data; name="${name}"`,
  "",
  value,
];
const file = (name: string, filename: string, type: string | undefined, content: string): readonly string[] => [
  "--b",
  `Content-Disposition: form-data; name="${name}"; filename="${filename}"`,
  ...(type === undefined ? [] : [`Content-Type: ${type}`]),
  "",
  content,
];
const notForm = malformed("body", "This is not a multipart form.");

type Row = readonly [
  name: string,
  path: string,
  type: string | undefined,
  body: string | Uint8Array,
  answer: MessageCase["answer"],
];

/** A form with one field in a charset of its own, as bytes. */
const inCharset = (name: string, charset: string, content: Buffer): Uint8Array => {
  const [from, to] = [`--b\r\nContent-Disposition: form-data; name="${name}"\r\n`, "\r\n--b--\r\n"];
  return Buffer.concat([
    Buffer.from(`${from}Content-Type: text/plain; charset=${charset}\r\n\r\n`),
    content,
    Buffer.from(to),
  ]);
};
const western = Buffer.from([0x6b, 0xf6, 0x80]);
const unsupportedCharset = "This charset is not supported.";

const rows: readonly Row[] = [
  [
    "FM-01 fields; a plus is a space",
    "profile",
    urlencoded,
    "email=kim%40x.io&age=30&tag=a&tag=b+c&remember=on",
    text("kim@x.io 30 [a,b c] true"),
  ],
  ["FM-03 a parameter of the type", "profile", `${urlencoded}; charset=utf-8`, "email=k", text("k - [] false")],
  [
    "FM-04 every problem, in the order of the fields",
    "profile",
    urlencoded,
    "age=old&tag=%FF",
    problems(
      ["form.email", "required", "This is required."],
      ["form.age", "malformed", "This is not a whole number."],
      ["form.tag", "malformed", "This is not text."],
    ),
  ],
  ["FM-06 another type", "profile", "application/json", "{}", unsupportedType],
  ["FM-07 no type is a form", "profile", undefined, "email=a&age=1&tag=x", text("a 1 [x] false")],
  [
    "FM-10 files, one without a type",
    "picture",
    multipart,
    lines(
      ...field("name", "kim"),
      ...file("avatar", "me.png", "image/png", "PNG"),
      ...file("doc", "a.txt", undefined, "A"),
      ...file("doc", "b.csv", "text/csv", "B"),
      "--b--",
      "",
    ),
    text("kim me.png(image/png)=PNG [a.txt(text/plain)=A,b.csv(text/csv)=B]"),
  ],
  [
    "FM-11 a file that nobody chose",
    "picture",
    multipart,
    lines(...field("name", "kim"), ...file("avatar", "", "application/octet-stream", ""), "--b--", ""),
    text("kim - []"),
  ],
  ["FM-12 the fields without the files", "picture", urlencoded, "name=kim", text("kim - []")],
  [
    "FM-13 a file that must be sent",
    "portrait",
    multipart,
    lines(...field("name", "kim"), "--b--", ""),
    problems(["form.avatar", "required", "This is required."]),
  ],
  [
    "FM-13 and is",
    "portrait",
    multipart,
    lines(...file("avatar", "me.png", "image/png", "PNG"), "--b--", ""),
    text("me.png(image/png)=PNG"),
  ],
  ["FM-15 a form cut short", "picture", multipart, lines(...field("name", "kim")), notForm],
  [
    "FM a form in which no boundary is named",
    "picture",
    "multipart/form-data",
    "x",
    malformed("header.content-type", "This names no boundary."),
  ],
  ["FM a join of two fields", "range", urlencoded, "from=1&to=2", text("1-2")],
  [
    "FM a problem of the application's own",
    "range",
    urlencoded,
    "from=2&to=1",
    problems(["form.to", "too_small", "This must not be before the start."]),
  ],
  ["FM a part in ISO-8859-1", "picture", multipart, inCharset("name", "iso-8859-1", western), text("kö€ - []")],
  [
    "FM a part in UTF-16LE",
    "picture",
    multipart,
    inCharset("name", "utf-16le", Buffer.from("kö€", "utf16le")),
    text("kö€ - []"),
  ],
  [
    "FM a part in a charset that nobody knows",
    "picture",
    multipart,
    inCharset("name", "klingon", western),
    malformed("form.name", unsupportedCharset),
  ],
  [
    "FM the charset of a urlencoded form",
    "picture",
    `${urlencoded}; charset=ISO-8859-1`,
    Buffer.concat([Buffer.from("name="), western, Buffer.from("%80")]),
    text("kö€€ - []"),
  ],
  ["FM the charset of a field", "picture", urlencoded, "name=%f6&_charset_=windows-1252", text("ö - []")],
  [
    "FM a charset that nobody knows",
    "picture",
    `${urlencoded}; charset=klingon`,
    "name=a",
    malformed("header.content-type", unsupportedCharset),
  ],
  [
    "FM UTF-8 in a file's name",
    "portrait",
    multipart,
    lines(...file("avatar", "größe.png", "image/png", "PNG"), "--b--", ""),
    text("größe.png(image/png)=PNG"),
  ],
];

export const forms: readonly MessageCase[] = [
  ...rows.map(([name, path, type, body, answer]): MessageCase => {
    return { name, ask: `POST /${path}`, headers: type === undefined ? [] : [["content-type", type]], body, answer };
  }),
  {
    name: "FM a form in chunks that cut its lines",
    ask: "POST /picture",
    headers: [["content-type", multipart]],
    body: {
      chunks: lines(...field("name", "kim"), ...file("avatar", "a", "a/b", "PNG"), "--b--", "").split(/(?<=[-\r])/),
    },
    answer: text("kim a(a/b)=PNG []"),
  },
  {
    name: "FM a form past the limit",
    on: "small",
    ask: "POST /profile",
    headers: [["content-type", urlencoded]],
    body: `email=${"x".repeat(30)}`,
    answer: tooLong(),
  },
];
