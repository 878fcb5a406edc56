/**
 * The growth table: every function that reads a client's text, and the texts that are worst for it. A text is made for a number
 * of repetitions; twice the number is twice the text, which may cost twice the steps and no more.
 *
 * A reader is asked as a client asks it wherever it can be: by a request.
 */
import * as v from "valibot";
import {
  Codec,
  Cookie,
  Cors,
  Dep,
  Form,
  Header,
  Keys,
  Openapi,
  Path,
  Proxies,
  Query,
  Returns,
  Sessions,
  Shape,
  Socket,
  Test,
  client,
  get,
  json,
  multipart,
  param,
  post,
} from "usher-http";
import type { Inputs } from "usher-http";
import { targetOf as bunTarget } from "../../adapters/bun/respond.ts";
import { targetOf as denoTarget } from "../../adapters/deno/exchange.ts";
import { readHead } from "../../adapters/node/bad-request.ts";
import { WorkerExchange } from "../../adapters/workers/exchange.ts";
import { isHost } from "../../src/http/target.ts";
import { networkOf } from "../../src/http/addresses.ts";
import { elementsOf } from "../../src/database/type-text.ts";
import * as Type from "../../src/database/types.ts";
import { redact } from "../../src/database/failure.ts";
import { jsonLine } from "../../src/logging/entry.ts";
import { prettyLine } from "../../src/logging/pretty.ts";
import { EventReader } from "../../src/events/event-reader.ts";
import { joinTrace } from "../../src/telemetry/span.ts";

/** One reader, and the texts it is given. */
export interface Row {
  readonly reader: string;
  readonly read: (text: string) => unknown;
  readonly texts: Texts;
  /** The number of repetitions in the shorter of two texts, where 1,100 is long. */
  readonly times?: number;
}

/** By the repeated part. */
interface Texts {
  readonly [name: string]: (times: number) => string;
}

export const again = (...pieces: readonly string[]): Texts =>
  Object.fromEntries(pieces.map((piece) => [JSON.stringify(piece), (times: number) => piece.repeat(times)]));
/** A piece again and again, and what stands around all of them. */
export const around = (before: string, pieces: readonly string[], after = ""): Texts =>
  Object.fromEntries(
    pieces.map((piece) => [
      `${JSON.stringify(before)} ${JSON.stringify(piece)} ${JSON.stringify(after)}`,
      (times: number) => before + piece.repeat(times) + after,
    ]),
  );
/** Pieces that differ by their number, which takes as many characters whatever it is. */
export const numbered = (name: string, piece: (number: string) => string, between = ""): Texts => ({
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

const fields = (from: typeof Query, others: number): Inputs => ({
  q: from.optional("q", Codec.string),
  n: from.optional("n", Codec.int),
  list: from.list("l", Codec.string),
  ...Object.fromEntries(Array.from({ length: others }, (_, i) => [`f${i}`, from.optional(`field_${i}`, Codec.string)])),
});

/** Readers of this number of fields. */
export const ofFields: { readonly [reader: string]: (fields: number) => Row["read"] } = {
  query: (others) => asking(fields(Query, others), bySearch),
  form: (others) => sending(fields(Form as never, others), urlencoded),
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

/** Each of Valibot's formats, and ours: what reads a text by a pattern. */
const formats = v.object(
  Object.fromEntries(
    Object.entries({
      base64: v.base64(),
      bic: v.bic(),
      creditCard: v.creditCard(),
      cuid2: v.cuid2(),
      decimal: v.decimal(),
      digits: v.digits(),
      email: v.email(),
      emoji: v.emoji(),
      hash: v.hash(["md5", "sha256"]),
      hexColor: v.hexColor(),
      hexadecimal: v.hexadecimal(),
      imei: v.imei(),
      ip: v.ip(),
      isoDateTime: v.isoDateTime(),
      isoTimestamp: v.isoTimestamp(),
      isoWeek: v.isoWeek(),
      mac: v.mac(),
      nanoid: v.nanoid(),
      octal: v.octal(),
      rfcEmail: v.rfcEmail(),
      slug: v.slug(),
      ulid: v.ulid(),
      url: v.url(),
      bytes: v.maxBytes(5),
      graphemes: v.maxGraphemes(5),
      words: v.maxWords("en", 5),
      startsWith: v.startsWith("a"),
      normalize: v.normalize(),
      toLowerCase: v.toLowerCase(),
    }).map(([name, action]) => [name, v.optional(v.pipe(v.string(), action))]),
  ),
);

const formatTexts: Texts = Object.fromEntries(
  Object.keys(formats.entries).flatMap((name) =>
    [
      ...[" ", "a", "9", "@", ".", "a.", "-", "é", "\u00a0", "="].map((piece) => ["", piece]),
      ["a@", "a."],
      ["a@a", ".a"],
      ["", "a-"],
      ["", "1 "],
      ["http://", "a."],
      ["", "1:"],
      ["", "a:"],
      ["", "😀"],
      ["", "👩‍💻"],
      ["2026-09-30T12:00:00.", "0"],
      ["", "+"],
      ["", "0x"],
      ["#", "f"],
    ].map(([before, piece]) => [
      `${name}: ${before}${piece}…`,
      member(name, (times) => JSON.stringify(`${before}${piece?.repeat(times)}`)),
    ]),
  ),
);

const readyMade = v.object({
  uuid: v.optional(Shape.uuid),
  date: v.optional(Shape.date),
  instant: v.optional(Shape.instant),
  int64: v.optional(Shape.int64),
});

const unread: Texts = {
  ...again(" ", "[", '"', "\\", '\\"', "{", "[]", "1", "1,", '{"":', '"a"', "\\u", '[{"":['),
  ...around('"', ["\\", "\\\\", '\\"', "\\u", "\\ud800"]),
  ...around("[", ["1,", "[],", "9007199254740993,"]),
};

/** Pieces that fields of HTTP are made of, and pieces that break them. */
const ofFields9110 = [
  " ",
  "\t",
  "\u00a0",
  ",",
  ";",
  "=",
  '"',
  "\\",
  '\\"',
  "a",
  "1",
  "-",
  "0",
  "%",
  "a=1;",
  "a,",
  "a/b,",
  "a;q=0.5,",
  "(",
  "/",
  "é",
];

const fieldTexts: Texts = {
  ...again(...ofFields9110),
  ...again(
    "?1,",
    "@1,",
    "1.5,",
    ":YQ==:,",
    '"a",',
    "(a b),",
    "a;b;c=2,",
    "*",
    '%"a",',
    "a=(1 2),",
    "no-cache,",
    'a="b",',
  ),
  ...around('"', ["a", "\\", '\\"', "\\\\"]),
  ...around('"', ["a", '\\"'], '"'),
  ...around("a/b", [";", "; ", ";a", ";a=1", " ;", '; "', "a", " "]),
  ...around('a/b;c="', ["a", '\\"', "\\"], '"'),
  ...around("bearer ", ["a", "=", " ", "a=", "a,", ".", "/"]),
  ...around("digest ", ["a=1,", 'a="b",', "a = ", ", "]),
  ...around("for=", ["a", "1.", "[", '"', '";for="', ";", ",for=", "_a"]),
  ...around('for="[', [":", "f:", "0", "::"], ']"'),
  ...around("host=", ["a", ".", "1:"]),
  ...around("(", ["a ", "1 ", " "], ")"),
  ...around(":", ["a", "=", "Q"], ":"),
  ...around('%"', ["a", "%41", "%c3%a9", "%"], '"'),
  ...around("a", [";a", ";a=1", "; a"]),
  ...around("2026-09-30T12:00:00.", ["0", "9"], "Z"),
  ...around("1e", ["0", "1"]),
  ...around("1.", ["0", "1"]),
  ...around("-", ["0", "1", "-"]),
  ...numbered("parameters that differ", (number) => `;a${number}=1`),
  ...numbered("numbers for parameters", (number) => `${number}=1`, ";"),
  ...numbered("numbers for parameters of a type", (number) => `a/b;${number}=1`, ";"),
  ...numbered("numbers for pairs", (number) => `digest ${number}=1`, ","),
  ...around("a/b;", ["65536=1;"]),
};

const codecs: readonly (readonly [name: string, inputs: Inputs])[] = Object.entries({ ...Codec }).flatMap(
  ([name, codec]) => ("parse" in codec ? [[name, { x: Header.optional("x", codec as Codec<unknown>) }] as const] : []),
);

/** Sends headers, each line apart. */
function withHeaders(
  app: Test.TestApp,
  headers: (text: string) => readonly (readonly [string, string])[],
  method = "GET",
) {
  return (text: string) => Test.call(app, method, "/", { headers: headers(text) });
}

const ofType = { "content-type": "multipart/form-data; boundary=b" };
const part = (head: string, content = ""): string => `--b\r\n${head}\r\n\r\n${content}\r\n`;
const named = 'Content-Disposition: form-data; name="f"';

const multiparts: Texts = {
  ...again(
    "-",
    "--b",
    "--b\r\n",
    "\r\n",
    "\r",
    "\n",
    "--b\r\n\r\n",
    part(named),
    part(named, "%"),
    part(`${named}; filename="a"`, "x"),
  ),
  ...around(
    `--b\r\n${named}\r\n\r\n`,
    ["a", "\r\n", "\r\n-", "\r\n--", "\r\n--b", "\r", "\n", "-", "\r\n--b\r"],
    "\r\n--b--",
  ),
  ...around(`--b\r\n${named}`, [";", "; ", " ", "; a=b", '"', "a"], "\r\n\r\n\r\n--b--"),
  ...around(
    '--b\r\nContent-Disposition: form-data; name="',
    ["%", "%22", "\\", '\\"', "a", "%0D", "é"],
    '"\r\n\r\n\r\n--b--',
  ),
  ...around("--b\r\n", ["a", ":", "a:b\r\n", "a: \r\n", " ", "a:\t"], `\r\n${named}\r\n\r\n\r\n--b--`),
  ...around(`--b\r\n${named}\r\nContent-Type: a/b`, [";", " ", ";a=b", "/"], "\r\n\r\n\r\n--b--"),
  ...numbered("numbers for names", (number) => part(`Content-Disposition: form-data; name=${number}`)),
  ...numbered("numbers for parameters", (number) => part(`${named}; ${number}=1`)),
  ...numbered("numbers for headers", (number) => part(`${named}\r\n${number}: 1`)),
  ...numbered("numbers for parameters of a type", (number) => part(`${named}\r\nContent-Type: a/b;${number}=1`)),
  ...numbered("numbers beside a charset", (number) => part(`${named}\r\nContent-Type: a/b;${number}=1;charset=utf-8`)),
};

const targets: Texts = {
  ...again("/", "a", "/a", "%", "/%", "/%41", "/%ff", "?", "#", ":", "//", "/.", "/..", "@", "/1", "a/", "/é"),
  ...around("/", ["a", "%", "%41", "%C3%A9", "%E2%82", "a%", ".", "1", ";", "/"]),
  ...around("/n/", ["0", "1", "-", "%31", "1/"]),
  ...around("/rest", ["/", "/a", "/%", "/%41"]),
  ...around("http://", ["a", "/", ":", "[", "@", "a.", "1:", "%41"]),
  ...around("http://a", ["/", "/a", "?", "#"]),
  ...around("http://[", [":", "f", "f:", "v", "1."], "]/"),
  ...numbered("numbers for segments", (number) => `/${number}`),
};

const hosts: Texts = {
  ...again("a", ".", "1", ":", "1:", "a:1", "[", "]", "[]", "%", "%41", "@", "/", "::", "-"),
  ...around("[", [":", "f:", "f", "0", "::", "1.", "v1.", "v1:"], "]"),
  ...around("[", [":", "f:", "f"], "]:1"),
  ...around("a:", ["1", "0"]),
};

const hops: Texts = {
  ...again(",", " ", ", ", "127.0.0.1,", "a,", "1.", "::,", "[::1]:1,", "[", "\t", "\u00a0,", "127.0.0.1:1,"),
  ...around("192.0.2.1", [",127.0.0.1", ", 127.0.0.1 ", ","]),
  ...around("for=192.0.2.1", [",for=127.0.0.1", ', for="[::1]"', ";", ","]),
  ...around("[", [":", "f:", "]"]),
};

const traces: Texts = {
  ...again("0", "-", " ", "\t", "a", "00-", "f"),
  ...around("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", ["-", "-a", "0", " "]),
  ...around("00-", ["0", "a", "f"]),
};

const handlerless = () => "";
const number = Path.int("n");
const segments = Test.app(
  [
    get(Path.root, answers, handlerless),
    get(Path.of("a", Path.str("a"), "b"), answers, handlerless),
    get(Path.of("n", number), { inputs: { n: param(number) }, ...answers }, handlerless),
    get(Path.of(Path.int("x", { unparsed: "next-route" })), answers, handlerless),
    get(Path.of(Path.str("y")), answers, handlerless),
    get(Path.of("rest", Path.rest("rest")), answers, handlerless),
    get(Path.of("rest", "1", "2"), answers, handlerless),
  ],
  { trailingSlash: "redirect" },
);

const talk = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: "chat" });
const sockets = Test.app([get(Path.root, { returns: Returns.websocket(talk) }, () => async () => undefined)]);
const handshake: readonly (readonly [string, string])[] = [
  ["connection", "upgrade"],
  ["upgrade", "websocket"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
  ["sec-websocket-protocol", "chat"],
];

const shared = Test.app([post(Path.root, answers, handlerless)], {
  cors: Cors.make({ origins: ["https://a.example"], headers: ["x-a"] }),
  trustedOrigins: ["https://b.example"],
});
const behind = (header: "forwarded" | "x-forwarded-for") =>
  Test.app([get(Path.root, { inputs: { client }, ...answers }, handlerless)], {
    trustedProxies: Proxies.make(["127.0.0.0/8", "::1", "unix:x"], { header }),
  });

const keys = Keys.ring("0".repeat(32));
const sessions = Sessions.make({ store: Sessions.memory(), shape: v.object({}), idleMs: 1000, absoluteMs: 1000 });
const docs = Test.app(Openapi.docs([]));
const bytes = new TextEncoder();

export const rows: readonly Row[] = [
  ...codecs.map(([name, inputs]): Row => ({
    reader: `a header by Codec.${name}`,
    read: withHeaders(Test.app([get(Path.root, { inputs, ...answers }, handlerless)]), (text) => [["x", text]]),
    texts: fieldTexts,
    // None of them tells a long list from a short one, and a number of 400 digits is none of JavaScript's.
    times: 400,
  })),
  ...codecs.map(([name, inputs]): Row => ({
    reader: `a header of many lines by Codec.${name}`,
    read: withHeaders(Test.app([get(Path.root, { inputs, ...answers }, handlerless)]), (text) =>
      text.split("\n").map((line) => ["x", line]),
    ),
    texts: again("\n", "a\n", "a/b\n", "for=a\n", "1\n"),
  })),
  {
    reader: "Codec.enum",
    read: asking({ x: Query.list("x", Codec.enum("word", ["a", "1"])) }, bySearch),
    texts: { ...again("x=a&", "x=1&"), ...numbered("numbers", (number) => `x=${number}&`) },
  },
  {
    reader: "a login",
    read: (text) => Codec.basicLogin({ scheme: "basic", value: { kind: "token68", token: text } }),
    texts: { ...again("=", "a", "YTpi", "/", "-", "OjpA"), ...around("YTpi", ["=", "YTpi"], "a") },
  },
  {
    reader: "an encoded cookie",
    read: (text) => Cookie.encoded.parse(text),
    texts: again("A", "QUJD", "-", "_", "=", "%", "w6k"),
  },
  {
    reader: "a sealed text",
    read: async (text) => [await Keys.open(keys, text, "x"), await Keys.verify(keys, "x", text)],
    texts: again("A", "QUJD", "-", "=", ".", "A."),
  },
  {
    reader: "the cookie of a session",
    read: asking({ session: sessions.optional }, (app, text) =>
      Test.call(app, "GET", "/", { headers: { cookie: text } }),
    ),
    texts: { ...again(";", "__Host-session=", "__Host-session=A;"), ...around("__Host-session=", ["A", "-", "="]) },
  },
  {
    reader: "the type of a JSON body",
    read: (() => {
      const app = Test.app([post(Path.root, { inputs: { body: json(v.object({})) }, ...answers }, handlerless)]);
      return (type: string) => Test.call(app, "POST", "/", { body: "{}", headers: { "content-type": type } });
    })(),
    texts: {
      ...fieldTexts,
      ...around("application/", ["a", "+", "a+", "+json"], "+json"),
      ...around("application/json", [";", " "]),
    },
  },
  {
    reader: "the type of a form",
    read: (() => {
      const app = Test.app([
        post(Path.root, { inputs: { a: Form.optional("a", Codec.string) }, ...answers }, handlerless),
      ]);
      return (type: string) => Test.call(app, "POST", "/", { body: "", headers: { "content-type": type } });
    })(),
    texts: {
      ...fieldTexts,
      ...around("multipart/form-data", [" ", "\t", ";", ";a=1", "; "]),
      ...around("multipart/form-data; boundary=", ["a", "'", '"', "\\"]),
      ...around('multipart/form-data; boundary="', ["a", " ", "="], '"'),
    },
  },
  {
    reader: "a multipart form",
    read: sending(
      { f: Form.list("f", Codec.string), one: Form.optional("one", Codec.int), file: Form.File.list("f") },
      ofType["content-type"],
    ),
    texts: multiparts,
    times: 300,
  },
  {
    reader: "the parts of a multipart body",
    read: (() => {
      const app = Test.app([
        post(Path.root, { inputs: { parts: multipart({ max: 10_000_000 }) }, ...answers }, async ({ parts }) => {
          for await (const one of parts) for await (const piece of one) void piece;
          return "";
        }),
      ]);
      return (body: string) => Test.call(app, "POST", "/", { body, headers: ofType });
    })(),
    texts: multiparts,
    times: 300,
  },
  { reader: "a path", read: (target) => Test.call(segments, "GET", target), texts: targets },
  {
    reader: "a target for Bun",
    read: (url) => bunTarget({ method: "GET", url, headers: new Headers() } as Request),
    texts: targets,
  },
  {
    reader: "a target for Deno",
    read: (url) => denoTarget({ method: "GET", url, headers: new Headers() } as Request),
    texts: targets,
  },
  {
    reader: "a head for Node",
    read: (text) => {
      const rawHeaders = ["Host", text, "Content-Length", text, "Transfer-Encoding", text];
      return readHead({ rawHeaders, httpVersionMajor: 1, httpVersionMinor: 1, url: text, method: "GET" } as never);
    },
    texts: { ...hosts, ...targets, ...again(",", " ,", "chunked,", "\t", "1"), ...around("chunked", [" ", ","]) },
  },
  { reader: "a host", read: isHost, texts: hosts },
  {
    reader: "cookies that a Worker has as one line",
    read: (cookie) => {
      const request = new Request("http://a", { headers: { cookie } });
      return new WorkerExchange(request, "", { waitUntil: () => undefined }).lines("cookie");
    },
    texts: again(", ", ", a", ", a=", "a", "=", ",", " "),
  },
  ...["upgrade", "connection", "sec-websocket-version", "sec-websocket-key", "sec-websocket-protocol"].map(
    (name): Row => ({
      reader: `${name} of a handshake`,
      read: withHeaders(sockets, (text) => [...handshake.filter(([other]) => other !== name), [name, text]]),
      texts: again(",", " ", ", ", "a,", "chat,", "websocket", "upgrade ,", "A", "=", "1", "\t,"),
    }),
  ),
  ...["origin", "access-control-request-method", "access-control-request-headers"].map((name): Row => ({
    reader: `${name} of a preflight`,
    read: withHeaders(
      shared,
      (text) => [
        ["origin", "https://a.example"],
        ["access-control-request-method", "POST"],
        ...(name === "origin" ? [] : [[name, text] as const]),
      ],
      "OPTIONS",
    ),
    texts: { ...again(",", " ", ", ", "x-a,", "a", "://", "\t"), ...numbered("numbers", (number) => `${number},`) },
  })),
  ...["origin", "sec-fetch-site", "host"].map((name): Row => ({
    reader: `${name} of what changes something`,
    read: withHeaders(
      shared,
      (text) => [
        ["origin", "https://a"],
        ["host", "a"],
        [name, text],
      ],
      "POST",
    ),
    texts: { ...again("a", " ", "://", "same-origin", "\t", ":"), ...around("https://", ["a", ":", "A"]), ...hosts },
  })),
  ...["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-request-id"].map((name): Row => ({
    reader: `${name} of a proxy`,
    read: withHeaders(behind("x-forwarded-for"), (text) => [[name, text]]),
    texts: hops,
  })),
  {
    reader: "forwarded of a proxy",
    read: withHeaders(behind("forwarded"), (text) => [["forwarded", text]]),
    texts: hops,
  },
  { reader: "traceparent", read: (text) => joinTrace((name) => (name === "traceparent" ? [text] : [])), texts: traces },
  {
    reader: "tracestate",
    read: (text) =>
      joinTrace((name) =>
        name === "traceparent" ? ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"] : text.split("\n"),
      ),
    texts: again("a", "a=b,", "\n", "a\n", " ", "é"),
  },
  {
    reader: "the tags of what a client has",
    read: (() => {
      const app = docs;
      return (text: string) =>
        Test.call(app, "GET", "/openapi.json", { headers: { "if-none-match": text, "accept-encoding": text } });
    })(),
    texts: { ...again(",", " ", "W/", '"a",', "*", "gzip,", "a;q=0,"), ...around("W/", ["W/", '"']) },
  },
  {
    reader: "an event stream",
    read: (text) => new EventReader(10_000_000).feed(bytes.encode(text)),
    texts: again(
      "\n",
      "\r",
      "\r\n",
      "data: a\n",
      "data\n",
      "id: 1\n",
      ":",
      "a",
      "data: a\n\n",
      "event: a\n",
      "retry: 1\n",
      "id: \0\n",
    ),
  },
  {
    reader: "an event stream byte by byte",
    read: (text) => {
      const reader = new EventReader(10_000_000);
      for (const byte of bytes.encode(text)) reader.feed(Uint8Array.of(byte));
    },
    texts: again("\n", "\r", "\r\n", "data: a\n", "a", "id: 1\n", "data: a\n\n"),
  },
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
  { reader: "form", read: sending({ ...fields(Form as never, 5), is: Form.checked("is") }, urlencoded), texts: pairs },
  {
    reader: "JSON",
    read: sending({ body: json(everyKind) }, jsonType),
    texts: {
      ...unread,
      ...lists(...Object.keys(everyKind.entries)),
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
  { reader: "texts of JSON by a format", read: sending({ body: json(formats) }, jsonType), texts: formatTexts },
  {
    reader: "texts of JSON by a ready-made shape",
    read: sending({ body: json(readyMade) }, jsonType),
    texts: {
      ...longTexts(...Object.keys(readyMade.entries)),
      ...Object.fromEntries(
        ["0", "+00:00", "-"].map((piece) => [
          `an instant with ${piece}…`,
          member("instant", (times) => `"2026-09-30T12:00:00.${piece.repeat(times)}Z"`),
        ]),
      ),
    },
  },
  {
    reader: "a signed cookie, and an encrypted one",
    read: asking(
      {
        signed: Cookie.optional(Cookie.signed(keys, "signed", Codec.string)),
        sealed: Cookie.optional(Cookie.encrypted(keys, "sealed", Codec.string)),
      },
      (app, text) => Test.call(app, "GET", "/", { headers: { cookie: `signed=${text}; sealed=${text}` } }),
    ),
    texts: again("A", "QUJD", "-", "=", ".", "A.", "~", "%"),
  },
  {
    reader: "a line of the log for a person",
    read: (text) =>
      prettyLine({ level: "info", source: text, message: text, fields: { "url.path": text }, context: undefined }, 0),
    texts: again("\n", "\u0000", "a", "\u2028", '"', "é"),
  },
  {
    reader: "a line of the log for a program",
    read: (text) =>
      jsonLine({ level: "info", source: "s", message: text, fields: { "url.path": text }, context: undefined }, 0),
    texts: again("\n", "\u0000", "a", "\u2028", '"', "é", "\\"),
  },
  {
    reader: "an array of the database's",
    read: (text) => {
      try {
        return elementsOf(text, Type.text);
      } catch {
        // It is no array.
        return undefined;
      }
    },
    texts: {
      ...again("{", ",", '"', "\\", "a", "}", "{},"),
      ...around("{", ["a,", '"a",', '"\\\\",', "{", '"\\"",', "NULL,"], "a}"),
      ...around('{"', ["a", "\\\\", '\\"', "{"], '"}'),
    },
  },
  {
    reader: "a sentence of the database's that quotes a value",
    read: (text) => redact(`relation ${text} does not exist`, "select $1::regclass", [text, "12"]),
    texts: again("«", "»", '"', "'", "„", '"x', "x", "X ", "…", "\u00e9", "\ud83d\ude00", "12 ", " "),
  },
  {
    reader: "a client that a limit counts",
    read: (text) => networkOf(text, 64),
    texts: again(":", "::", "[", "[]:1", "1:", "%", "1.", "f"),
  },
];
