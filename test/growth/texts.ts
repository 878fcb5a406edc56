/**
 * The growth table: every function that reads a client's text, and the texts that are worst for it. A text is made for a number
 * of repetitions; twice the number is twice the text, which may cost twice the steps and no more.
 *
 * A reader is asked as a client asks it wherever it can be: by a request.
 */
import { Codec, Cookie, Dep, Form, Path, Query, Returns, Test, get, post } from "usher-http";
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
