/** An exception is a 500 without details; the log line has its place and type (7.2, 7.6; RF-07, LG-11). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Answer,
  App,
  Codec,
  Dep,
  Event,
  Health,
  Path,
  Query,
  Refusal,
  Result,
  Returns,
  Socket,
  Test,
  get,
  json,
  post,
  refuse,
} from "usher-http";
import type { AppOptions, Route } from "usher-http";
import { DatabaseError } from "usher-http/postgres";
import { internal } from "../support/refusals.ts";
import { lines, logWith, logged, messages } from "../support/logs.ts";

const secret = "s3cret";
class StoreError extends Error {}
const raise = (): never => {
  throw new StoreError(`password ${secret}`);
};
const text = { returns: Returns.text };
const on = (declaration: Pick<Parameters<typeof get>[1], "inputs">): Route =>
  get(Path.of("x"), { ...text, ...declaration }, () => "");
const strict = Codec.custom<string>({ kind: "strict", parse: raise, print: String });

const places: readonly (readonly [where: string, routes: readonly Route[], options: AppOptions])[] = [
  ["a handler", [get(Path.of("x"), text, raise)], {}],
  ["a handler, later", [get(Path.of("x"), text, async () => raise())], {}],
  ["Dep.map", [on({ inputs: { x: Dep.map(Dep.return(1), raise) } })], {}],
  ["Dep.join", [on({ inputs: { x: Dep.join({}, raise) } })], {}],
  ["Dep.join, later", [on({ inputs: { x: Dep.join({}, async () => raise()) } })], {}],
  ["Dep.ofRequest", [on({ inputs: { x: Dep.ofRequest(raise) } })], {}],
  ["Dep.bind", [on({ inputs: { x: Dep.bind(Dep.return(1), raise) } })], {}],
  ["what a bind asks for", [on({ inputs: { x: Dep.bind(Dep.return(1), () => Dep.map(Dep.return(1), raise)) } })], {}],
  ["Dep.ofBody", [on({ inputs: { x: Dep.ofBody({ contentTypes: ["text/plain"] }, raise) } })], {}],
  ["a codec", [on({ inputs: { x: Query.required("q", strict) } })], {}],
  ["a check of a shape", [on({ inputs: { x: json(v.pipe(v.any(), v.check(raise))) } })], {}],
  [
    "a value being written",
    [
      get(Path.of("x"), { returns: Returns.json(v.object({ a: v.string() })) }, () => ({
        get a() {
          return raise();
        },
      })),
    ],
    {},
  ],
  [
    "a response that is none",
    [get(Path.of("x"), { returns: Returns.response }, () => Answer.json(v.string(), raise()))],
    {},
  ],
  ["the clock", [get(Path.of("x"), text, () => "")], { now: raise }],
  ["the not-found answer", [], { notFound: raise }],
  ["the not-found answer, later", [], { notFound: async () => raise() }],
];

describe("RF-07 the answer to an exception has no details, and the log does not have its message", () => {
  it.each(places)("in %s", async (_where, routes, options) => {
    logWith({ level: "debug" });
    const as = routes[0]?.inputs["x"]?.node.body?.as;
    const sent = as === "json" ? { body: {} } : { body: "b", headers: { "content-type": "text/plain" } };
    const reported: unknown[] = [];
    const { status, body, headers } = await Test.call(
      Test.app(routes, { ...options, onError: (raised) => reported.push(raised) }),
      "GET",
      "/x?q=1",
      as === undefined ? {} : sent,
    );
    expect([status, body]).toEqual([500, internal]);
    expect(headers.get("date")).toBeNull();
    expect(JSON.stringify([...headers])).not.toContain(secret);
    expect(logged().join("\n")).not.toContain(secret);
    const error = lines().find(({ level }) => level === "error");
    expect([error?.["error.kind"], error?.["framework.refusal.code"], error?.["url.path"]]).toEqual([
      "StoreError",
      "internal",
      "/x",
    ]);
    expect(error?.["error.stack"]).toMatch(/^at (?:Object\.)?raise (?:\[.*\] )?\(.*raises\.test\.ts:\d+:\d+\)/);
    expect(reported).toEqual([new StoreError(`password ${secret}`)]);
    expect(error?.["http.route"]).toBe(routes.length === 0 ? undefined : "/x");
    expect(messages("info")).toEqual(["GET /x 500"]);
  });

  it("LG-11 in a readiness check: a bug, and no 503", async () => {
    const routes = Health.routes([Health.check("db", raise), Health.check("cache", () => Result.error("no"))]);
    const { status, body } = await Test.call(Test.app(routes), "GET", "/readyz");
    expect([status, body]).toEqual([500, internal]);
    expect(messages("error")).toHaveLength(1);
    expect(logged().join("\n")).not.toContain(secret);
  });

  it.each([
    ["its cause and its fields", Object.assign(new Error("a", { cause: new Error(secret) }), { secret })],
    ["lines that look like frames", new Error(`a\n    at ${secret} (file:///x.ts:1:1)\n    at ${secret}:1:1`)],
    ["a message changed since", Object.assign(new Error(secret), { message: "other" })],
    ["an aggregate", new AggregateError([new Error(secret)], secret)],
    ["a stack of its own", Object.assign(new Error("a"), { stack: `Error: ${secret}\n${secret}` })],
    ["a name of its own", Object.assign(new Error("a"), { name: secret })],
    ["a text", secret],
    ["an object", { message: secret, stack: secret, toString: (): string => secret }],
    ["a symbol", Symbol(secret)],
  ])("with a secret in %s", async (_where, thrown) => {
    const throws = get(Path.of("x"), text, () => {
      throw thrown;
    });
    const { body } = await Test.call(Test.app([throws]), "GET", "/x");
    expect(body).toBe(internal);
    expect(messages("error")).toHaveLength(1);
    expect(logged().join("\n")).not.toContain(secret);
  });
});

describe("any thrown value is a 500, and app.fetch never rejects", () => {
  const unnamed = Object.assign(new Error("x"), { constructor: undefined });
  const odd: readonly (readonly [what: string, thrown: unknown, kind: string])[] = [
    ["undefined", undefined, "undefined"],
    ["null", null, "object"],
    ["a number", 7, "number"],
    ["a function", raise, "function"],
    ["an object", {}, "object"],
    ["a TypeError", new TypeError("x"), "TypeError"],
    ["an error of a class of its own", new StoreError("x"), "StoreError"],
    ["a frozen error", Object.freeze(new Error("x")), "Error"],
    ["a Response", new Response("x"), "object"],
    ["a thenable", { then: raise }, "object"],
    ["an error with no constructor", unnamed, "Error"],
    ["an error with a number for a stack", Object.assign(new Error("x"), { stack: 7 }), "Error"],
    ["an error with no stack", Object.assign(new Error("x"), { stack: undefined }), "Error"],
    ["an error with no message", Object.assign(new Error("x"), { message: null }), "Error"],
    ["an error whose message raises", Object.defineProperty(new Error("x"), "message", { get: raise }), "Error"],
  ];
  it.each(odd)("%s", async (_what, thrown, kind) => {
    const sync = get(Path.of("sync"), text, () => {
      throw thrown;
    });
    const later = get(Path.of("later"), text, () => Promise.reject(thrown));
    const { fetch } = App.make([sync, later]);
    for (const path of ["sync", "later"]) {
      const response = await fetch(new Request(`http://h/${path}`));
      expect([response.status, await response.text()]).toEqual([500, internal]);
    }
    const kinds = lines()
      .filter(({ level }) => level === "error")
      .map((line) => line["error.kind"]);
    expect(kinds).toEqual([kind, kind]);
  });

  it("an answer object of the application that is not valid", async () => {
    for (const answer of [
      undefined,
      null,
      7,
      "text",
      {},
      [],
      { status: 200 },
      { status: 200, headers: 7, cookies: [], body: "" },
    ]) {
      const own = get(Path.of("x"), { returns: Returns.response }, () => answer as never);
      const missing = { notFound: () => answer as never };
      expect((await Test.call(Test.app([own]), "GET", "/x")).body).toBe(internal);
      expect((await Test.call(Test.app([], missing), "GET", "/x")).body).toBe(internal);
    }
  });
});

describe("a thrown refusal is answered like a returned one", () => {
  const gone = Refusal.code("gone", { status: 410, doc: "It went." });
  const refuses = [gone];
  const throws = (): never => {
    throw refuse(gone, "It went.", { detail: "the sweep took it" });
  };
  it.each([
    ["a handler", get(Path.of("x"), { ...text, refuses }, throws)],
    ["a handler, later", get(Path.of("x"), { ...text, refuses }, async () => throws())],
    ["Dep.join", get(Path.of("x"), { ...text, inputs: { x: Dep.join({}, throws, { refuses }) } }, () => "")],
    [
      "Dep.join, later",
      get(Path.of("x"), { ...text, inputs: { x: Dep.join({}, async () => throws(), { refuses }) } }, () => ""),
    ],
    ["Dep.map", get(Path.of("x"), { ...text, refuses, inputs: { x: Dep.map(Dep.return(1), throws) } }, () => "")],
    ["Dep.bind", get(Path.of("x"), { ...text, refuses, inputs: { x: Dep.bind(Dep.return(1), throws) } }, () => "")],
    [
      "Dep.ofBody",
      post(Path.of("x"), { ...text, inputs: { x: Dep.ofBody({ contentTypes: ["a/*"], refuses }, throws) } }, () => ""),
    ],
  ])("in %s", async (_where, route) => {
    const { method } = route;
    const call = method === "POST" ? { headers: { "content-type": "a/b" }, body: "x" } : {};
    const { status, body } = await Test.call(Test.app([route]), method, "/x", call);
    expect([status, body]).toEqual([410, '{"error":"gone","message":"It went."}']);
    expect(messages("warn")).toEqual([`${method} /x: gone: the sweep took it`]);
    expect(messages("error")).toEqual([]);
  });
});

/** What may be logged of a database error: it has no value of a parameter or a row. */
const failures = [
  [{ kind: "conflict", constraint: "orders_key" }, "error", "internal: a constraint is violated: orders_key"],
  [
    { kind: "db", code: "42P01", detail: 'ERROR 42P01: relation "ordrs" does not exist, for select 1 from ordrs' },
    "error",
    'internal: the database: ERROR 42P01: relation "ordrs" does not exist, for select 1 from ordrs',
  ],
  [
    { kind: "lost", detail: "ECONNRESET" },
    "error",
    "internal: the database connection was lost, and what was done is not known: ECONNRESET",
  ],
  [{ kind: "pool_busy", waitedMs: 20 }, "warn", "busy: no database connection came free within 20 ms"],
  [
    { kind: "unsent", detail: "ECONNREFUSED" },
    "warn",
    "busy: there was no connection to the database, and nothing was done: ECONNREFUSED",
  ],
] as const;

describe.each(failures)("a database error that the application does not catch: %j", (failure, level, detail) => {
  const code = detail.slice(0, detail.indexOf(":"));
  const fail = (): never => {
    throw new DatabaseError(failure);
  };
  const loud = () => lines().filter((line) => line["level"] !== "info");
  const told = {
    level,
    "error.kind": "DatabaseError",
    "error.stack": expect.stringContaining("raises.test.ts"),
    "framework.refusal.code": code,
    request_id: expect.any(String),
  };

  it("7.5 in a handler is one log line, with the database's error code", async () => {
    const app = Test.app([get(Path.of("x"), text, fail)]);
    const answered = await Test.call(app, "GET", "/x");
    expect([answered.status, answered.headers.get("retry-after")]).toEqual(code === "busy" ? [503, "1"] : [500, null]);
    expect(loud()).toMatchObject([{ ...told, message: `GET /x: ${detail}`, "http.route": "/x" }]);
  });

  it("7.5 in the producer of a stream is one too", async () => {
    const kind = Event.text("word");
    const app = App.make([
      get(Path.of("x"), { returns: Returns.events([kind]) }, () => async (send) => {
        await send(Event.make(kind, "one"));
        fail();
      }),
    ]);
    await expect((await app.fetch(new Request("http://localhost/x"))).text()).rejects.toThrow("the stream failed");
    expect(loud()).toMatchObject([
      { ...told, message: `stream on /x failed, so its connection is closed: ${detail}`, "url.path": "/x" },
    ]);
  });

  it("7.5 in the handler of a WebSocket is one too", async () => {
    const words = Socket.protocol({ server: Socket.text, client: Socket.text });
    const app = Test.app([get(Path.of("x"), { returns: Returns.websocket(words) }, () => fail)]);
    await Test.websocket(app, words, "/x", (socket) => socket.receive());
    expect(loud()).toMatchObject([
      { ...told, message: `socket on /x: its handler raised: ${detail}`, "url.path": "/x" },
    ]);
  });
});

it("a refusal that is thrown after the answer is logged with its detail", async () => {
  const gone = Refusal.code("gone", { status: 410, doc: "It went." });
  async function* parts() {
    yield new TextEncoder().encode("a");
    throw refuse(gone, "It went.", { detail: "row 7" });
  }
  const app = App.make([get(Path.of("x"), { returns: Returns.response }, () => Answer.stream(parts()))]);
  await expect((await app.fetch(new Request("http://localhost/x"))).text()).rejects.toThrow("the stream failed");
  expect(lines().filter((line) => line["level"] !== "info")).toMatchObject([
    {
      level: "warn",
      message: "stream on /x failed, so its connection is closed: gone: row 7",
      "framework.refusal.code": "gone",
    },
  ]);
});
