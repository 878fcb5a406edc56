/**
 * The growth table: every function that reads a client's text, and the texts that are worst for it. A text is made for a number
 * of repetitions; twice the number is twice the text, which may cost twice the steps and no more.
 *
 * A reader is asked as a client asks it wherever it can be: by a request.
 */
import * as v from "valibot";
import { Codec, Cookie, Dep, Form, Path, Query, Returns, Shape, Test, get, json, post } from "usher-http";
import type { Inputs } from "usher-http";
import { networkOf } from "../../src/codecs/network.ts";
import { untold } from "../../src/database/untold.ts";

/** One reader, and the texts it is given. */
export interface Row {
  readonly reader: string;
  readonly read: (text: string) => unknown;
  readonly texts: Texts;
}

/** By what stands in them again and again. */
interface Texts {
  readonly [name: string]: (times: number) => string;
}

const again = (...pieces: readonly string[]): Texts =>
  Object.fromEntries(pieces.map((piece) => [JSON.stringify(piece), (times: number) => piece.repeat(times)]));
/** A piece again and again, and what stands around all of them. */
const around = (before: string, pieces: readonly string[], after = ""): Texts =>
  Object.fromEntries(
    pieces.map((piece) => [
      `${JSON.stringify(before)} ${JSON.stringify(piece)} ${JSON.stringify(after)}`,
      (times: number) => before + piece.repeat(times) + after,
    ]),
  );
/** Pieces that differ by their number, which takes as many characters whatever it is. */
const numbered = (name: string, piece: (number: string) => string, between = ""): Texts => ({
  [name]: (times) => Array.from({ length: times }, (_, i) => piece(String(100_000 + i))).join(between),
});

const answers = { returns: Returns.text };

/** Asks a route that has these inputs. */
function asking(inputs: Inputs, ask: (app: Test.TestApp, text: string) => Promise<unknown>): Row["read"] {
  const app = Test.app([get(Path.root, { inputs, ...answers }, () => "")]);
  return (text) => ask(app, text);
}

/** Sends a route that has these inputs a body. */
function sending(inputs: Inputs, type: string): Row["read"] {
  const app = Test.app([post(Path.root, { inputs, ...answers }, () => "")]);
  return (body) => Test.call(app, "POST", "/", { body, headers: { "content-type": type } });
}

const bySearch = (app: Test.TestApp, text: string) => Test.call(app, "GET", `/?${text}`);
const urlencoded = "application/x-www-form-urlencoded";

const fields = (from: typeof Query | typeof Form, others: number): Inputs => ({
  q: from.optional("q", Codec.string),
  n: from.optional("n", Codec.int),
  list: from.list("l", Codec.string),
  ...Object.fromEntries(Array.from({ length: others }, (_, i) => [`f${i}`, from.optional(`field_${i}`, Codec.string)])),
});

/** Readers of so many fields. */
export const ofFields: { readonly [reader: string]: (fields: number) => Row["read"] } = {
  query: (others) => asking(fields(Query, others), bySearch),
  form: (others) => sending(fields(Form, others), urlencoded),
};

const pairs: Texts = {
  ...again("&", "%&", "a&", "a=&", "+&", "%41&", "%ff&", "q=%&", "q=%ff&", "q=+&", "q=%E2%82&", "n=x&", "l=1&", "l=%&"),
  ...again("field_1=1&", "field&"),
  ...around("q=", ["%", "%4", "%41", "+", "a%", "%C3%A9", "%E2%82", "x", "é", "="]),
  ...around("n=", ["0", "1", "-", "%31"]),
  ...around("%71", ["%", "%71", "+", "x"], "=1"),
  ...numbered("names that differ", (number) => `name_${number}=1`, "&"),
  ...numbered("numbers for names", (number) => `${number}=1`, "&"),
};

const jsonType = "application/json";

/** Members of every kind, with a rule on each that reads the whole of it. */
const everyKind = v.object({
  text: v.optional(v.pipe(v.string(), v.trim(), v.minLength(2), v.maxLength(1_000_000))),
  list: v.optional(v.array(v.number())),
  objects: v.optional(v.array(v.strictObject({ a: v.number(), b: v.optional(v.string(), "b") }))),
  record: v.optional(v.record(v.string(), v.number())),
  keyed: v.optional(v.record(v.pipe(v.string(), v.email()), v.number())),
  union: v.optional(v.array(v.union([v.number(), v.object({ a: v.number() }), v.object({ b: v.string() })]))),
  variant: v.optional(
    v.array(
      v.variant("kind", [
        v.object({ kind: v.literal("a"), a: v.number() }),
        v.object({ kind: v.literal("b"), b: v.string() }),
      ]),
    ),
  ),
  tuple: v.optional(v.looseTuple([v.number(), v.string()])),
  any: v.optional(v.unknown()),
  enumeration: v.optional(v.array(v.picklist(["a", "b"]))),
});

/** The texts of a JSON body whose one member is of many pieces. */
function member(name: string, value: (times: number) => string): (times: number) => string {
  return (times) => `{${JSON.stringify(name)}:${value(times)}}`;
}

const joined = (piece: string, between: string) => (times: number) => Array<string>(times).fill(piece).join(between);

/** As a list of many items, each of which the member takes or does not. */
const lists = (...names: readonly string[]): Texts =>
  Object.fromEntries(
    names.flatMap((name) =>
      ["1", '"x"', "null", "{}", '{"a":1}', '{"b":1}', '{"kind":"a"}', '{"kind":"c"}', "[]", "9007199254740993"].map(
        (item) => [`${name}: [${item}, …]`, member(name, (times) => `[${joined(item, ",")(times)}]`)] as const,
      ),
    ),
  );

const pieces = [
  " ",
  "a",
  "\\\\",
  '\\"',
  "\\ud83d\\ude00",
  "\\u0000",
  "\\udc00",
  "9",
  "@",
  ".",
  "a.",
  "-",
  "é",
  "\u00a0",
];

/** As a long text, a list of it, and a name; with the mark of our own long numbers before it too. */
const longTexts = (...names: readonly string[]): Texts =>
  Object.fromEntries(
    names.flatMap((name) =>
      pieces.flatMap((piece) =>
        [
          ['"', '"'],
          ['["', '"]'],
          ['["\\udc00', '"]'],
          ['{"', '":1}'],
        ].map(([before, after]) => [
          `${name}: ${before}${piece}…${after}`,
          member(name, (times) => `${before}${piece.repeat(times)}${after}`),
        ]),
      ),
    ),
  );

/** As an object of many members. */
const objects = (...names: readonly string[]): Texts =>
  Object.fromEntries(
    names.flatMap((name) =>
      [":1,", ':"x",', ":{},"].flatMap((value) =>
        ["n", "", "a@b.cd"].map((before) => {
          const text = numbered("", (number) => `"${before}${number}"${value}`)[""] as (times: number) => string;
          return [
            `${name}: {"${before}100000"${value} …}`,
            member(name, (times) => `{${text(times).slice(0, -1)}}`),
          ] as const;
        }),
      ),
    ),
  );

const numbers = (...names: readonly string[]): Texts =>
  Object.fromEntries(
    names.flatMap((name) => [
      [`${name}: a number of many digits`, member(name, joined("1", ""))] as const,
      [`${name}: a fraction of many digits`, member(name, (times) => `0.${"1".repeat(times)}`)] as const,
      [`${name}: nested lists`, member(name, (times) => "[".repeat(times) + "]".repeat(times))] as const,
    ]),
  );

const unread: Texts = {
  ...again(" ", "[", '"', "\\", '\\"', "{", "[]", "1", "1,", '{"":', '"a"', "\\u", '[{"":['),
  ...around('"', ["\\", "\\\\", '\\"', "\\u", "\\ud800"]),
  ...around("[", ["1,", "[],", "9007199254740993,"]),
};

export const rows: readonly Row[] = [
  { reader: "query", read: asking(fields(Query, 5), bySearch), texts: pairs },
  {
    reader: "query of the request",
    read: asking(
      { read: Dep.ofRequest((asked) => [asked.query("q"), asked.queries("l"), asked.query("five")].length) },
      bySearch,
    ),
    texts: pairs,
  },
  {
    reader: "cookie",
    read: asking(
      {
        a: Cookie.optional(Cookie.named("a", Codec.string)),
        n: Cookie.optional(Cookie.named("n", Codec.int)),
        later: Cookie.optional(Cookie.named("later", Cookie.encoded)),
      },
      (app, cookie) => Test.call(app, "GET", "/", { headers: { cookie } }),
    ),
    texts: {
      ...again(";", "=", "a", " ", "\t", "\u00a0", "; ", "a;", "=;", "a=;", "b=1; ", "later=%;", "later", " =", "n=1;"),
      ...around("", [";", " ", "; ", "a;"], "="),
      ...around("", [";", " ", "; ", "a;"], "a=1"),
      ...around("a=", [" ", "=", "x", "\t;"], "x"),
      ...around("n=", ["0", "1", "-"]),
      ...around("later=", ["QUJD", "A", "-", "="]),
      ...numbered("cookies that differ", (number) => `c${number}=1`, "; "),
    },
  },
  { reader: "form", read: sending({ ...fields(Form, 5), is: Form.checked("is") }, urlencoded), texts: pairs },
  {
    reader: "JSON",
    read: sending({ body: json(everyKind) }, jsonType),
    texts: {
      ...unread,
      ...longTexts("text", "keyed", "any"),
      ...objects("record", "keyed", "any"),
      ...numbers("list", "any"),
    },
  },
  {
    reader: "JSON with 64-bit numbers",
    read: sending({ body: json(v.object({ i: v.optional(Shape.int64), x: v.optional(v.unknown()) })) }, jsonType),
    texts: { ...unread, ...lists("i", "x"), ...longTexts("i", "x"), ...objects("x"), ...numbers("i", "x") },
  },
  {
    reader: "a sentence of the database's that quotes a value",
    read: (text) => untold(`relation ${text} does not exist`, "select $1::regclass", [text, "12"]),
    texts: again("«", "»", '"', "'", "„", '"x', "x", "X ", "…", "\u00e9", "\ud83d\ude00", "12 ", " "),
  },
  {
    reader: "a client that a limit counts",
    read: (text) => networkOf(text, 64),
    texts: again(":", "::", "[", "[]:1", "1:", "%", "1.", "f"),
  },
];
