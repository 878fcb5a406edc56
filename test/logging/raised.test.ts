/** What a log line has of an error: which it is, of which code, why and where. Nothing that a client may have sent (7.6; LG-11). */
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { raisedFields } from "../../src/logging/raised.ts";

const secret = "s3cret";
const withMembers = (members: object, of: Error = new Error(secret)): Error => Object.assign(of, members);
const caused = (cause: unknown, of: Error = new Error(secret)): Error => withMembers({ cause }, of);
const refused = (): Error => withMembers({ code: "ECONNREFUSED" });
const raising = (names: readonly string[], of: Error = new Error(secret)): Error => {
  for (const name of names) {
    Object.defineProperty(of, name, {
      get: () => {
        throw new Error(secret);
      },
    });
  }
  return of;
};
const circle = new Error(secret);
circle.cause = new TypeError(secret, { cause: circle });
const named = (name: unknown, Class: new (message: string) => Error = Error): Error =>
  Object.defineProperty(new Class(secret), "name", { value: name });
class e extends Error {}
class $t extends Error {}
const longChain = Array.from({ length: 50 }).reduce<Error>((cause) => caused(cause), refused());

type Told = readonly [kind: string, code?: string | undefined, causeKind?: string, causeCode?: string];

describe("the kind and the code of an error, and those of its cause", () => {
  it.each<readonly [what: string, thrown: unknown, ...told: Told]>([
    ["a code of the system", refused(), "Error", "ECONNREFUSED"],
    ["a code of Node", withMembers({ code: "ERR_INVALID_URL" }, new TypeError(secret)), "TypeError", "ERR_INVALID_URL"],
    ["a code of undici", withMembers({ code: "UND_ERR_HEADERS_TIMEOUT" }), "Error", "UND_ERR_HEADERS_TIMEOUT"],
    ["a code of OpenSSL", withMembers({ code: "CERT_HAS_EXPIRED" }), "Error", "CERT_HAS_EXPIRED"],
    ["an SQLSTATE", withMembers({ code: "42P01" }), "Error", "42P01"],
    ["an SQLSTATE of digits", withMembers({ code: "23505" }), "Error", "23505"],
    ["a postcode", withMembers({ code: "90210" }), "Error"],
    ["a number", withMembers({ code: 20 }), "Error"],
    ["a code in lower case", withMembers({ code: secret }), "Error"],
    ["a code with a space", withMembers({ code: "ENOENT /home/ada" }), "Error"],
    ["a code of two lines", withMembers({ code: "ENOENT\nADA" }), "Error"],
    ["a code of 41 characters", withMembers({ code: "E".repeat(41) }), "Error"],
    ["a code of 40 characters", withMembers({ code: "E".repeat(40) }), "Error", "E".repeat(40)],
    ["a code that is an object", withMembers({ code: { toString: () => "ENOENT" } }), "Error"],
    ["a cause", caused(refused(), new TypeError(secret)), "TypeError", undefined, "Error", "ECONNREFUSED"],
    ["a cause without a code", caused(new RangeError(secret)), "Error", undefined, "RangeError"],
    [
      "a cause of a cause",
      caused(caused(refused(), new RangeError(secret))),
      "Error",
      undefined,
      "Error",
      "ECONNREFUSED",
    ],
    ["a text as its cause", caused(secret), "Error", undefined, "string"],
    ["no cause but null", caused(null), "Error"],
    ["a circle of causes", circle, "Error", undefined, "TypeError"],
    ["a long chain of causes", longChain, "Error", undefined, "Error"],
    [
      "several errors",
      new AggregateError([refused(), new RangeError()], secret),
      "AggregateError",
      undefined,
      "Error",
      "ECONNREFUSED",
    ],
    [
      "several errors, of which the last alone has a cause with a code",
      new AggregateError([new RangeError(secret), secret, caused(refused())], secret),
      "AggregateError",
      undefined,
      "Error",
      "ECONNREFUSED",
    ],
    [
      "errors without a code",
      new AggregateError([new RangeError(secret), new Error(secret)]),
      "AggregateError",
      undefined,
      "RangeError",
    ],
    [
      "errors that raise",
      withMembers({
        errors: new Proxy([], {
          get: () => {
            throw new Error(secret);
          },
        }),
      }),
      "Error",
    ],
    [
      "Deno's words of fetch",
      new Error(
        `${secret}: client error (Connect): dns error: failed to lookup address information: Name or service not known`,
      ),
      "Error",
      "ENOTFOUND",
    ],
    ["Deno's words of fetch before others", new Error(`: dns error: no such host, said ${secret}/${secret}`), "Error"],
    ["no errors", new AggregateError([], secret), "AggregateError"],
    ["several errors in a cause", caused(new AggregateError([refused()])), "Error", undefined, "Error", "ECONNREFUSED"],
    ["a cause that raises", raising(["cause", "errors"]), "Error"],
    [
      "a cause whose members raise",
      caused(raising(["stack", "name", "code", "constructor"])),
      "Error",
      undefined,
      "Error",
    ],
    ["members that raise", raising(["stack", "name", "code", "constructor", "message", "cause"]), "Error"],
    ["a class whose name a minifier took", named("PaymentError", e), "PaymentError"],
    ["a class of two characters", named("StoreException", $t), "StoreException"],
    ["an error that only has a name", named("MongoServerError"), "MongoServerError"],
    ["a DOMException", new DOMException(secret, "TimeoutError"), "TimeoutError"],
    ["a DOMException that is named by data", new DOMException(secret, secret), "DOMException"],
    ["a name that no class has", named(secret, e), "e"],
    ["a name with a space", named(`Told ${secret} Error`, e), "e"],
    ["a name that is no text", named({ toString: () => "AError" }, e), "e"],
    ["a name beside a class of its own", named("OtherError", TypeError), "TypeError"],
    ["a constructor that is a text", withMembers({ constructor: { name: `${secret} x` } }), "Error"],
    ["a text", secret, "string"],
    ["undefined", undefined, "undefined"],
    ["null", null, "object"],
    ["an object with a code", { code: "ENOENT", cause: refused() }, "object"],
    [
      "a Proxy that raises",
      new Proxy(new Error(secret), {
        get: () => {
          throw new Error(secret);
        },
        getPrototypeOf: () => {
          throw new Error(secret);
        },
      }),
      "object",
    ],
  ])("of %s", (_what, thrown, kind, code, causeKind, causeCode) => {
    const fields = raisedFields(thrown);
    expect([fields["error.kind"], fields["error.code"]]).toEqual([kind, code]);
    expect([fields["error.cause.kind"], fields["error.cause.code"]]).toEqual([causeKind, causeCode]);
    const { "error.stack": stack, "error.at": at, ...told } = fields;
    expect([typeof stack, inspect(told)]).toEqual(["string", expect.not.stringContaining(secret)]);
    expect(`${stack}${at}`).not.toContain(secret);
  });
});

describe("the nearest frame of the application", () => {
  const app = "handler (file:///srv/shop/src/orders.ts:12:5)";
  it.each([
    ["is the first", [app, "other (file:///srv/shop/src/x.ts:1:1)"], app],
    ["is not in a dependency", ["read (file:///srv/shop/node_modules/pg/lib/a.js:1:1)", app], app],
    ["is not in a dependency on Windows", ["read (C:\\shop\\node_modules\\pg\\a.js:1:1)", app], app],
    ["is not in Node", ["async open (node:internal/fs/promises:639:25)", "node:fs:1:1", app], app],
    ["is not in Deno", ["async open (ext:deno_fs/30_fs.js:657:15)", app], app],
    ["is not in Bun", ["open (native)", "run (bun:main:1:1)", app], app],
    ["is not in the engine", ["JSON.parse (<anonymous>)", "Promise.all (index 0)", app], app],
    ["is not in the framework", ["get (/work/usher-http/dist/core.js:1:1)", app], app],
    ["has no name of a function", ["file:///srv/shop/src/orders.ts:12:5"], "file:///srv/shop/src/orders.ts:12:5"],
    ["is after an await", ["async handler (/srv/shop/a.ts:1:1)"], "async handler (/srv/shop/a.ts:1:1)"],
    ["is none", ["async open (node:internal/fs/promises:639:25)"], undefined],
    ["is none of an empty stack", [], undefined],
  ])("%s", (_what, frames, at) => {
    const stack = ["Error: x", ...frames.map((frame) => `    at ${frame}`)].join("\n");
    expect(raisedFields(withMembers({ stack }, new Error("x")))["error.at"]).toBe(at);
  });
});

describe("the name of a function in a frame", () => {
  const place = "file:///srv/shop/src/orders.ts:12:5";
  const atOf = (name: string): unknown =>
    raisedFields(withMembers({ stack: `Error: x\n    at ${name} (${place})` }, new Error("x")))["error.at"];

  it.each([
    "save",
    "x".repeat(64),
    "async save",
    "new Order",
    "async Pool.#run",
    "Object.<anonymous>",
    "Map.get [as find]",
    "Order.get total [as total]",
    "get total",
    "Object.[Symbol.iterator] [as [Symbol.iterator]]",
    "async Promise.all",
    "bound save",
    "<static_initializer>",
    "module code",
  ])("%s is written", (name) => {
    expect(atOf(name)).toBe(`${name} (${place})`);
  });

  // A function may be named by what a client sent.
  it.each([
    "save ",
    " save",
    "a b",
    "async a b",
    "new a b",
    "get a b",
    "a [as b c]",
    "a [as b] c",
    "a [as b",
    "drop table orders",
    "new new Order",
    "module code x",
    "x".repeat(65),
    "x.".repeat(300),
    "é",
    "a-b",
    "",
  ])("%j is left out", (name) => {
    expect(atOf(name)).toBe(place);
  });
});
