/** Multipart bodies, read part by part (rows MP). */
import type { Expected, MessageCase } from "../case.ts";
import { malformed, text, tooLong, unsupportedType } from "../expected.ts";

const of = (boundary: string) => `multipart/form-data; boundary=${boundary}`;
const lines = (...lines: readonly string[]): string => lines.join("\r\n");
const disposition = (rest: string): string => `Content-Disposition: form-data; ${rest}`;
const one = (name: string, content: string): readonly string[] => ["--b", disposition(`name="${name}"`), "", content];
const notForm = malformed("body", "This is not a multipart form.");

type Row = readonly [name: string, body: string, answer: Expected];

const rows: readonly Row[] = [
  [
    "MP-01 two parts",
    lines(...one("a", "one"), ...one("b", "two"), "--b--", ""),
    text("a|-|text/plain|one\nb|-|text/plain|two"),
  ],
  ["MP-03 text behind the last boundary", lines(...one("a", "one"), "--b--", "more"), text("a|-|text/plain|one")],
  ["MP text before the first", lines("more", ...one("a", "one"), "--b--", ""), text("a|-|text/plain|one")],
  [
    "MP-04 blanks behind a boundary",
    lines("--b \t", disposition('name="a"'), "", "one", "--b--", ""),
    text("a|-|text/plain|one"),
  ],
  [
    "MP-06 a boundary inside of a line is content",
    lines(...one("a", "x--b y"), "--b--", ""),
    text("a|-|text/plain|x--b y"),
  ],
  ["MP-07 a line that begins like one", lines(...one("a", "--bz"), "--b--", ""), notForm],
  ["MP-09 no boundary at all", "text", notForm],
  ["MP-10 no parts", lines("--b--", ""), text("")],
  ["MP-12 a part without a name", lines("--b", disposition('x="a"'), "", "one", "--b--", ""), notForm],
  ["MP-13 a part without a head", lines("--b", "", "one", "--b--", ""), notForm],
  [
    "MP-15 a file of a type that is none",
    lines("--b", disposition('name="f"; filename="v"'), "Content-Type: not a type", "", "x", "--b--", ""),
    text("f|v|application/octet-stream|x"),
  ],
  ["MP-16 a name given twice", lines("--b", disposition('name="a"; NAME="b"'), "", "one", "--b--", ""), notForm],
  [
    "MP-18 a quoted name",
    lines("--b", disposition('name="a \\"q\\" ; b"'), "", "one", "--b--", ""),
    text('a "q" ; b|-|text/plain|one'),
  ],
  ["MP-19 a folded head", lines("--b", disposition('name="a"'), " folded", "", "one", "--b--", ""), notForm],
  [
    "MP-26 a part that is left unread",
    lines(...one("a", "one"), ...one("skip", "x".repeat(100)), ...one("c", "three"), "--b--", ""),
    text("a|-|text/plain|one\nc|-|text/plain|three"),
  ],
  ["MP-30 a body that ends early", lines(...one("a", "one")), notForm],
  ["MP an empty part", lines(...one("a", ""), "--b--", ""), text("a|-|text/plain|")],
];

const typed = (type: string) => [["content-type", type]] as const;

export const multipart: readonly MessageCase[] = [
  ...rows.map(([name, body, answer]): MessageCase => {
    return { name, ask: "POST /parts", headers: typed(of("b")), body, answer };
  }),
  {
    name: "MP-21 a boundary of every character there may be",
    ask: "POST /parts",
    headers: typed(of(`"----=_x'()+_,-./:=?"`)),
    body: lines("------=_x'()+_,-./:=?", disposition('name="a"'), "", "one", "------=_x'()+_,-./:=?--", ""),
    answer: text("a|-|text/plain|one"),
  },
  {
    name: "MP-22 chunks that cut every line",
    ask: "POST /parts",
    headers: typed(of("b")),
    body: { chunks: lines(...one("a", "one"), ...one("b", "two"), "--b--", "").split(/(?<=[-\r\n"])/) },
    answer: text("a|-|text/plain|one\nb|-|text/plain|two"),
  },
  {
    name: "MP-24 a quoted boundary",
    ask: "POST /parts",
    headers: typed(of('"a b"')),
    body: lines("--a b", disposition('name="a"'), "", "one", "--a b--", ""),
    answer: text("a|-|text/plain|one"),
  },
  {
    name: "MP-27 a part past the route's own limit",
    ask: "POST /parts",
    headers: typed(of("b")),
    body: lines(...one("a", "x".repeat(500)), "--b--", ""),
    answer: tooLong(),
  },
  {
    name: "MP-28 another type",
    ask: "POST /parts",
    headers: typed("application/x-www-form-urlencoded"),
    body: "a=b",
    answer: unsupportedType,
  },
  {
    name: "MP-29 no boundary named",
    ask: "POST /parts",
    headers: typed("multipart/form-data"),
    body: "x",
    answer: malformed("header.content-type", "This names no boundary."),
  },
  { name: "MP-31 no type", ask: "POST /parts", body: "x", answer: unsupportedType },
];
