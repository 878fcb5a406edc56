/**
 * Wrong answers of an application, as JavaScript allows them: every builder of `Answer` with arguments that it does not
 * accept, handwritten answers, `Response`s and streams that were used before, and thrown values. Each is a 500.
 */
import { Answer, Dep, Path, Refusal, Returns, addHeader, get, param, refuse, setCookie } from "usher-http";
import type { AppOptions, Middleware, RequestRecord, Route } from "usher-http";
import * as v from "valibot";
import { aWhile, passed } from "./state.ts";

/** Part of the messages of thrown errors, and of refused values: no log line contains it. */
export const secret = "s3cret";

const raise = (): never => {
  throw new TypeError(secret);
};
const raising = { toString: raise, valueOf: raise, toJSON: raise };
/** Throws on every access. */
const hostile: object = new Proxy(
  {},
  { get: raise, has: raise, getPrototypeOf: raise, ownKeys: raise, getOwnPropertyDescriptor: raise },
);
const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
/** As without a type checker. */
const as = (value: unknown): never => value as never;

type Make = () => unknown;
type Table = { readonly [name: string]: Make };

const nothings: readonly (readonly [name: string, value: unknown])[] = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 5],
  ["NaN", Number.NaN],
  ["a bigint", 5n],
  ["a symbol", Symbol(secret)],
  ["a function", () => secret],
  ["a list", [secret]],
  ["an object", { secret }],
  ["an object that raises", raising],
  ["a proxy that raises", hostile],
];

/** A call of each value, except those left out. */
function each(name: string, call: (value: never) => unknown, but: readonly string[] = []): Table {
  const rows = nothings.filter(([value]) => !but.includes(value));
  return Object.fromEntries(rows.map(([value, given]) => [`${name} ${value}`, () => call(given as never)]));
}

const builders: Table = {
  ...each("make of", (body) => Answer.make(body)),
  ...each("html of", (page) => Answer.html(page)),
  ...each("redirect to", (location) => Answer.redirect(location)),
  ...each("stream of", (parts) => Answer.stream(parts)),
  ...each("events of", (producer) => Answer.events(producer), ["a function"]),
  ...each("refusal of", (refusal) => Answer.refusal(refusal)),
  ...each("closeConnection of", (answer) => Answer.closeConnection(answer)),
  ...each("json by", (shape) => Answer.json(shape, as("x"))),
  ...each("json of", (value) => Answer.json(v.string(), value)),
  ...each("takeover to", (protocol) => Answer.takeover(protocol, async () => {})),
  ...each("takeover by", (handle) => Answer.takeover("irc/6.9", handle), ["a function"]),
  ...each("refuse with", (code) => refuse(code)),
  ...each("refuse with a message of", (message) => refuse(Refusal.notFound, message), [
    "undefined",
    // JSON leaves these out or writes them: an answer of little use, but a valid one.
    "null",
    "a number",
    "NaN",
    "a symbol",
    "a function",
    "a list",
    "an object",
  ]),
  "make of bytes of another kind": () => Answer.make(as(new DataView(new ArrayBuffer(2)))),
  "make of a buffer": () => Answer.make(as(new ArrayBuffer(2))),
  "make of a Blob": () => Answer.make(as(new Blob([secret]))),
  "make of a promise": () => Answer.make(as(Promise.resolve(secret))),
  "make of what only says that it is bytes": () => Answer.make(as(Object.create(Uint8Array.prototype))),
  "takeover to no protocol": () => Answer.takeover("a b", async () => {}),
};

const options: Table = {
  ...each("options of", (options) => Answer.make("x", options), [
    // No member of them is read.
    "undefined",
    "a number",
    "NaN",
    "a bigint",
    "a symbol",
    "a function",
    "a list",
    "an object",
    "an object that raises",
  ]),
  ...each("a status of", (status) => Answer.make("x", { status }), ["undefined", "null"]),
  ...each("a content type of", (contentType) => Answer.make("x", { contentType }), ["undefined", "null"]),
  ...each("a header of", (value) => Answer.make("x", { headers: [["x-mine", value]] })),
  ...each("a header named", (name) => Answer.make("x", { headers: [[name, "x"]] })),
  // The name of a header is logged, as it is not a value.
  ...each("a header's pair of", (pair) => Answer.make("x", { headers: [pair] }), ["a list"]),
  "a header's pair of one": () => Answer.make("x", { headers: [as(["x-mine"])] }),
  ...each("headers of", (headers) => Answer.make("x", { headers }), ["undefined"]),
  ...each("cookies of", (cookies) => Answer.make("x", { cookies }), ["undefined", "null", "a list"]),
  ...each("a cookie of", (cookie) => Answer.make("x", { cookies: [cookie] })),
  ...each("a length of", (length) => Answer.stream(parts("x"), { length }), ["undefined", "a number"]),
  ...each("a time of", (keepAliveMs) => Answer.events(() => {}, { keepAliveMs }), ["undefined", "a number"]),
  "a status as a text": () => Answer.make("x", { status: as("200") }),
  "a status of 101": () => Answer.make("x", { status: 101 }),
  "a status of 99": () => Answer.make("x", { status: 99 }),
  "a status of 600": () => Answer.make("x", { status: 600 }),
  "a status of 200.5": () => Answer.make("x", { status: 200.5 }),
  "a length below 0": () => Answer.stream(parts("x"), { length: -1 }),
  "a length of a half": () => Answer.stream(parts("x"), { length: 0.5 }),
  "headers that raise at once": () => Answer.make("x", { headers: as({ [Symbol.iterator]: raise }) }),
  "headers that raise later": () => Answer.make("x", { headers: as(raisesLater()) }),
  "headers of a record": () => Answer.make("x", { headers: as({ "x-mine": "x" }) }),
  "a header with a line break": () => Answer.make("x", { headers: [["x-mine", `a\r\nb: ${secret}`]] }),
  "a cookie that is sealed by nothing": () => Answer.make("x", { cookies: [as({ ...cookie, seal: 5 })] }),
  "a cookie that is sealed as a number": () => Answer.make("x", { cookies: [as({ ...cookie, seal: () => 5 })] }),
  "a cookie whose sealing raises": () => Answer.make("x", { cookies: [{ ...cookie, seal: raise }] }),
  "a cookie whose sealing fails": () =>
    Answer.make("x", { cookies: [{ ...cookie, seal: () => Promise.reject(new Error(secret)) }] }),
};

const cookie = { name: "c", value: "", path: "/", httpOnly: true, sameSite: "lax" } as const;

function* raisesLater(): Generator<readonly [string, string]> {
  yield ["x-mine", "x"];
  raise();
}

async function* parts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield bytes(text);
}

/** Values from which no answer can be made before the head is sent. */
const streams: Table = {
  "a stream of a text": () => Answer.stream(as("text")),
  "an iterable whose iterator is none": () => Answer.stream(as({ [Symbol.asyncIterator]: 5 })),
  "an iterable whose iterator cannot be read": () =>
    Answer.stream({
      get [Symbol.asyncIterator]() {
        return raise();
      },
    }),
  "an iterable that raises at once": () => Answer.stream({ [Symbol.asyncIterator]: raise }),
  "an iterable of nothing": () => Answer.stream({ [Symbol.asyncIterator]: () => as(undefined) }),
  "an iterable of no iterator": () => Answer.stream({ [Symbol.asyncIterator]: () => as({}) }),
  "a stream that is read by another": () => {
    const body = new Blob([secret]).stream();
    body.getReader();
    return Answer.stream(body);
  },
  "a Response that is read by another": () => {
    const response = new Response(secret);
    response.body?.getReader();
    return response;
  },
  "a Response that is read": async () => {
    const response = new Response(secret);
    await response.text();
    return response;
  },
  "a Response that is cancelled": async () => {
    const response = new Response(secret);
    await response.body?.cancel();
    return response;
  },
  "a Response of an error": () => Response.error(),
};

const written = { status: 200, headers: [], cookies: [], body: "x", closes: false };
const byHand: Table = {
  ...each("no answer but", (value) => value),
  ...each("a body by hand of", (body) => ({ ...written, body }), ["undefined"]),
  ...each("parts by hand of", (parts) => ({ ...written, body: { parts } })),
  ...each("a status by hand of", (status) => ({ ...written, status })),
  ...each("headers by hand of", (headers) => ({ ...written, headers })),
  ...each("cookies by hand of", (cookies) => ({ ...written, cookies })),
  ...each("a refusal by hand of", (refused) => ({ ...written, refused }), ["undefined"]),
  ...each("a socket by hand of", (speak) => ({ ...written, status: 101, body: { speak } })),
  ...each("a takeover by hand of", (handle) => ({ ...written, status: 101, body: { handle, protocol: "a" } })),
  "no answer but a text": () => secret,
  "a Response's promise in a list": () => [Promise.resolve(new Response(secret))],
  "an answer whose status cannot be read": () => ({
    ...written,
    get status() {
      return raise();
    },
  }),
  "an answer whose body cannot be read": () => ({
    ...written,
    get body() {
      return raise();
    },
  }),
  "a promise that cannot be read": () => ({
    get then() {
      return raise();
    },
  }),
  // oxlint-disable-next-line unicorn/no-thenable
  "a promise that raises": () => ({ then: raise }),
  "a promise that fails with nothing": () => Promise.reject(),
  "a promise that fails with what raises": () => Promise.reject(as(hostile)),
};

const thrown: Table = {
  ...Object.fromEntries(
    nothings.map(([name, value]) => [
      `a raise of ${name}`,
      () => {
        throw value;
      },
    ]),
  ),
  "a raise of an error with no stack": () => {
    throw Object.assign(new Error(secret), { stack: undefined, message: undefined });
  },
  "a raise of an error that cannot be read": () => {
    const error = new Error(secret);
    for (const name of ["stack", "message", "constructor", "name"]) Object.defineProperty(error, name, { get: raise });
    throw error;
  },
  "a raise of a refusal of no code": () => {
    throw new Refusal(as(undefined), secret, {});
  },
  "a raise of a refusal that cannot be written": () => {
    throw refuse(Refusal.notFound, as(5n));
  },
  "a raise of a refusal whose detail is none": () => {
    throw refuse(Refusal.notFound, "Gone.", { detail: as(Symbol(secret)) });
  },
};

/** The answers of a handler, `notFound` or middleware, by name. */
export const wrongAnswers: Table = { ...builders, ...options, ...streams, ...byHand, ...thrown };

interface Setters {
  readonly add: (name: string, value: string) => void;
  readonly set: (cookie: never) => void;
}

/** What a dependency does, or a handler with a correct answer. */
export const wrongSettings: { readonly [name: string]: (setters: Setters) => unknown } = {
  ...Object.fromEntries(
    nothings.flatMap(([name, value]) => [
      [`a header set to ${name}`, ({ add }: Setters) => add("x-mine", value as never)] as const,
      [`a header set by the name ${name}`, ({ add }: Setters) => add(value as never, "x")] as const,
      [`a cookie set to ${name}`, ({ set }: Setters) => set(value as never)] as const,
    ]),
  ),
  "a cookie set that is sealed by nothing": ({ set }) => set(as({ ...cookie, seal: raise })),
};

/** The result of a dependency. */
export const wrongDependencies: Table = {
  ...thrown,
  "a promise that cannot be read": () => byHand["a promise that cannot be read"]?.(),
  // oxlint-disable-next-line unicorn/no-thenable
  "a promise that raises": () => ({ then: raise }),
  "a promise that fails with nothing": () => Promise.reject(),
  "a promise that fails with what raises": () => Promise.reject(as(hostile)),
  "a problem that cannot be written": () => Dep.problem({ at: "query.x", code: "malformed", message: as(5n) }),
  "a problem whose place is none": () => Dep.problem({ at: as(Symbol(secret)), code: "malformed", message: "x" }),
  "problems of nothing": () => Dep.problems(as(undefined)),
};

/** Streams that fail after their head is sent. */
export const cutStreams: Table = {
  "a stream whose first part raises": () => ({ [Symbol.asyncIterator]: () => ({ next: raise }) }),
  "a stream whose first part fails": () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject() }) }),
  "a stream that goes on with nothing": () => ({ [Symbol.asyncIterator]: () => ({ next: () => undefined }) }),
  "a stream whose part cannot be read": () => ({
    [Symbol.asyncIterator]: () => ({
      next: async () => ({
        get value() {
          return raise();
        },
      }),
    }),
  }),
  "a stream whose end raises too": () => ({
    [Symbol.asyncIterator]: () => ({ next: raise, return: raise }),
  }),
  "a stream whose end cannot be read": () => ({
    [Symbol.asyncIterator]: () => ({
      next: raise,
      get return() {
        return raise();
      },
    }),
  }),
  ...Object.fromEntries(
    [...nothings, ["a text", secret], ["a buffer", new ArrayBuffer(2)]].flatMap(([name, part]) => [
      [`a stream with ${String(name)} for a part`, () => between(part)],
      [`a platform's stream with ${String(name)} for a part`, () => platformOf(bytes("part "), part)],
    ]),
  ),
  "a platform's stream that fails": () =>
    new ReadableStream({ pull: (controller) => controller.error(new Error(secret)) }),
};

async function* between(part: unknown): AsyncGenerator {
  yield bytes("part ");
  yield part;
}

function platformOf(...parts: readonly unknown[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** Values that are created once and answered again. */
const once: Table = {
  response: () => new Response("once"),
  stream: () => Answer.stream(new Blob(["once"]).stream()),
  generator: () => Answer.stream(parts("once")),
  events: () => Answer.events(() => {}),
};
const kept = new Map<string, unknown>();

/** Bodies of bytes that some platforms do not accept unchanged. */
const oddBytes: Table = {
  shared: () => filled(new Uint8Array(new SharedArrayBuffer(3))),
  resizable: () => filled(new Uint8Array(Reflect.construct(ArrayBuffer, [3, { maxByteLength: 9 }]))),
};

function filled(odd: Uint8Array): Uint8Array {
  odd.set(bytes("odd"));
  return odd;
}

const name = Path.str("name");
const key = Path.str("key");
const read = { inputs: { name: param(name) }, returns: Returns.response };
const madeOf = (table: Table, name: string): never => table[name]?.() as never;

const depending = Dep.join({ name: param(name), add: addHeader, set: setCookie }, ({ name, add, set }) => {
  if (name in wrongDependencies) return madeOf(wrongDependencies, name);
  wrongSettings[name]?.({ add, set });
  return "set";
});

export const wrong: readonly Route[] = [
  get(Path.of("wrong", "handler", name), read, ({ name }) => madeOf(wrongAnswers, name)),
  get(Path.of("wrong", "later", name), read, async ({ name }) => {
    await aWhile();
    return madeOf(wrongAnswers, name);
  }),
  get(
    Path.of("wrong", "setting", name),
    { inputs: { name: param(name), add: addHeader, set: setCookie }, returns: Returns.text },
    ({ name, add, set }) => {
      wrongSettings[name]?.({ add, set });
      return "set";
    },
  ),
  get(Path.of("wrong", "dependency", name), { inputs: { depending }, returns: Returns.text }, () => "read"),
  get(
    Path.of("wrong", "later-dependency", name),
    { inputs: { before: Dep.ofRequest(() => aWhile()), depending }, returns: Returns.text },
    () => "read",
  ),
  get(Path.of("wrong", "cut", name), read, ({ name }) => Answer.stream(madeOf(cutStreams, name))),
  get(Path.of("wrong", "again", name, key), { ...read, inputs: { name: param(name), key: param(key) } }, (asked) => {
    const at = `${asked.name} ${asked.key}`;
    if (!kept.has(at)) kept.set(at, once[asked.name]?.());
    return kept.get(at) as never;
  }),
  // The first answer is sent until the gate opens, and so is still being sent when another one uses it.
  get(Path.of("wrong", "at-once", key), { inputs: { key: param(key) }, returns: Returns.response }, ({ key }) => {
    async function* held(): AsyncGenerator<Uint8Array> {
      yield bytes("one ");
      await passed(key);
      yield bytes("two");
    }
    if (!kept.has(key)) kept.set(key, Answer.stream(held(), { contentType: "text/plain", length: 7 }));
    return kept.get(key) as never;
  }),
  get(Path.of("odd-bytes", name), read, ({ name }) => Answer.make(madeOf(oddBytes, name))),
  get(Path.of("odd-parts", name), read, ({ name }) => {
    return Answer.stream(as(platformOf(madeOf(oddBytes, name), bytes("!"))), { contentType: "text/plain", length: 4 });
  }),
];

/** The name in a path. */
const second = (path: string): string => decodeURIComponent(path.split("/")[2] ?? "");

/** Answers at `/nowhere/{name}`, and replaces the answer of `/around/{name}`. */
export const wrongOptions: Pick<AppOptions, "notFound" | "middleware"> = {
  notFound: ({ path }: RequestRecord) => {
    return path.startsWith("/nowhere/") ? madeOf(wrongAnswers, second(path)) : Answer.make("none", { status: 404 });
  },
  middleware: [
    (async ({ path }, next) => {
      const made = await next();
      return path.startsWith("/around/") ? madeOf(wrongAnswers, second(path)) : made;
    }) satisfies Middleware,
  ],
};
