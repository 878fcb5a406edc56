/** What is awaited: promises of this realm and of another realm, as in a program under Jest, and other thenables. */
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  Answer,
  App,
  Codec,
  Cookie,
  Dep,
  Health,
  Log,
  Path,
  Query,
  Rate,
  Result,
  Returns,
  Test,
  get,
  post,
  setCookie,
} from "usher-http";
import type { AppOptions, Route } from "usher-http";
import { internal, invalid } from "../support/refusals.ts";
import { lines, logWith } from "../support/logs.ts";

interface Ways {
  readonly resolved: (value: unknown) => Promise<never>;
  readonly rejected: (reason: unknown) => Promise<never>;
}

const theirs = runInNewContext("Promise") as PromiseConstructor;
const ways: { readonly [what: string]: Ways } = {
  "a promise": {
    resolved: async (value) => value as never,
    rejected: (reason) => Promise.reject(reason),
  },
  "a promise of another realm": {
    resolved: (value) => theirs.resolve(value as never),
    rejected: (reason) => theirs.reject(reason),
  },
  "an object with then": {
    // oxlint-disable-next-line unicorn/no-thenable
    resolved: (value) => ({ then: (done: (value: unknown) => void) => done(value) }) as never,
    // oxlint-disable-next-line unicorn/no-thenable
    rejected: (reason) => ({ then: (_: unknown, failed: (why: unknown) => void) => failed(reason) }) as never,
  },
  "a function with then": {
    resolved: (value) => Object.assign(() => {}, { then: (done: (value: unknown) => void) => done(value) }) as never,
    rejected: (reason) =>
      Object.assign(() => {}, { then: (_: unknown, failed: (why: unknown) => void) => failed(reason) }) as never,
  },
};

const text = { returns: Returns.text };
const tag = Dep.return("t");
const problem = Dep.problem({ at: "query.q", code: "odd", message: "It is odd." });

/** Every place where an application may return a promise: an app that answers 200 `read` if the promise is awaited. */
const places: { readonly [place: string]: (promised: Promise<never>) => readonly [Route[], AppOptions?] } = {
  "a handler": (promised) => [[get(Path.root, text, () => promised)]],
  "a handler's response": (promised) => [
    [get(Path.root, { returns: Returns.response }, async () => Answer.make(await promised))],
  ],
  "Dep.ofRequest": (promised) => [
    [get(Path.root, { inputs: { a: Dep.ofRequest(() => promised) }, ...text }, ({ a }) => String(a))],
  ],
  "Dep.join": (promised) => [
    [get(Path.root, { inputs: { a: Dep.join({ tag }, () => promised) }, ...text }, ({ a }) => String(a))],
  ],
  "Dep.join of what was awaited": (promised) => {
    const first = Dep.ofRequest<string>(() => promised);
    return [
      [get(Path.root, { inputs: { a: Dep.join({ first }, ({ first }) => first) }, ...text }, ({ a }) => String(a))],
    ];
  },
  "Dep.map": (promised) => [
    [get(Path.root, { inputs: { a: Dep.map(tag, (): string => promised as never) }, ...text }, ({ a }) => String(a))],
  ],
  "Dep.bind": (promised) => [
    [
      get(
        Path.root,
        { inputs: { a: Dep.bind(tag, () => Dep.ofRequest<string>(() => promised)) }, ...text },
        ({ a }) => a,
      ),
    ],
  ],
  "Dep.uncached": (promised) => [
    [
      get(Path.root, { inputs: { a: Dep.uncached(Dep.ofRequest<string>(() => promised)) }, ...text }, ({ a }) =>
        String(a),
      ),
    ],
  ],
  notFound: (promised) => [[], { notFound: async () => Answer.make(await promised, { status: 200 }) }],
};

describe.each(Object.entries(ways))("%s", (_what, { resolved, rejected }) => {
  it.each(Object.entries(places))("from %s is awaited", async (_place, made) => {
    const [routes, options] = made(resolved("read"));
    const { status, body } = await Test.call(Test.app(routes, options), "GET", "/");
    expect([status, body]).toEqual([200, "read"]);
  });

  it.each(Object.entries(places))("from %s is a 500 when it rejects", async (_place, made) => {
    const [routes, options] = made(rejected(new RangeError("s3cret")));
    const { status, body } = await Test.call(Test.app(routes, options), "GET", "/");
    expect([status, body]).toEqual([500, internal]);
    const error = lines().find(({ level }) => level === "error");
    expect(error).toMatchObject({ "error.kind": "RangeError" });
    expect(JSON.stringify(lines())).not.toContain("s3cret");
  });

  it("from notFound and from middleware is the answer", async () => {
    const notFound = () => resolved(Answer.make("none", { status: 404 }));
    expect((await Test.call(Test.app([], { notFound }), "GET", "/")).body).toBe("none");
    const middleware = [() => resolved(new Response("instead"))];
    expect((await Test.call(Test.app([], { middleware }), "GET", "/")).body).toBe("instead");
  });

  it("from a dependency may resolve to a problem, which is reported with the others", async () => {
    const inputs = { a: Dep.join({ tag }, () => resolved(problem)), page: Query.required("page", Codec.int) };
    const { body } = await Test.call(Test.app([get(Path.root, { inputs, ...text }, () => "")]), "GET", "/?page=x");
    expect(body).toBe(
      invalid(["query.q", "odd", "It is odd."], ["query.page", "malformed", "This is not a whole number."]),
    );
  });

  it("from a reader of the body is awaited", async () => {
    const parsed = Dep.ofBody<string>({ contentTypes: ["text/plain"] }, () => resolved("parsed"));
    const route = post(Path.root, { inputs: { parsed }, ...text }, ({ parsed }) => parsed);
    const headers = { "content-type": "text/plain" };
    expect((await Test.call(Test.app([route]), "POST", "/", { body: "x", headers })).body).toBe("parsed");
  });

  it("from the store of a rate limit is awaited", async () => {
    const store = { take: () => resolved(1500) };
    const limited = Rate.limit(Rate.make({ limit: 1, perMs: 1000, store }), { key: tag });
    const route = get(Path.root, { inputs: { limited }, ...text }, () => "");
    const { status, headers } = await Test.call(Test.app([route]), "GET", "/");
    expect([status, headers.get("retry-after")]).toEqual([429, "2"]);
  });

  it("from a health check, and from the seal of a cookie, is awaited", async () => {
    const [ready] = Health.routes([Health.check("db", () => resolved(Result.error("down")))]).slice(1) as [Route];
    expect((await Test.call(Test.app([ready]), "GET", "/readyz")).status).toBe(503);
    const sealed = {
      ...Cookie.make(Cookie.named("c", Codec.string), ""),
      seal: () => resolved("sealed"),
    };
    const route = get(Path.root, { inputs: { set: setCookie }, ...text }, ({ set }) => {
      set(sealed);
      return "";
    });
    const { headers } = await Test.call(Test.app([route]), "GET", "/");
    expect(headers.getSetCookie()[0]).toMatch(/^c=sealed;/);
  });

  it("from the log's own function does not end the process when it rejects", async () => {
    const out: () => unknown = () => rejected(new Error("no room"));
    logWith({ out });
    const app = App.make([get(Path.root, text, () => "logged")]);
    expect(await (await app.fetch(new Request("http://h/"))).text()).toBe("logged");
    Log.source("shop").info("a line");
  });
});
