/** Methods: HEAD, 405, 501, OPTIONS (contract 4.2, rules 4 to 6 and 8; rows RT). */
import { describe, expect, it, vi } from "vitest";
import {
  Answer,
  Codec,
  Path,
  Result,
  Returns,
  Test,
  addHeader,
  del,
  get,
  param,
  patch,
  post,
  put,
  route,
} from "usher-http";
import type { Route } from "usher-http";
import { notAllowed, notFound, notImplemented } from "../support/refusals.ts";
import "../support/logs.ts";

const name = Path.str("name");
const hello = get(
  Path.of("hello", name),
  { inputs: { name: param(name) }, returns: Returns.text },
  ({ name }) => `hi ${name}`,
);
const gone = del(Path.of("hello", name), { returns: Returns.empty() }, () => undefined);

describe("one path, several methods", () => {
  it("RT-03 have one route each", async () => {
    const app = Test.app([hello, gone]);
    expect((await Test.call(app, "GET", "/hello/kim")).status).toBe(200);
    expect((await Test.call(app, "DELETE", "/hello/kim")).status).toBe(204);
  });

  const item = Path.of("item");
  const returns = Returns.text;
  const all: readonly (readonly [string, Route])[] = [
    ["GET", get(item, { returns }, () => "GET")],
    ["POST", post(item, { returns }, () => "POST")],
    ["PUT", put(item, { returns }, () => "PUT")],
    ["PATCH", patch(item, { returns }, () => "PATCH")],
    ["DELETE", del(item, { returns }, () => "DELETE")],
    ["OPTIONS", route("OPTIONS", item, { returns }, () => "OPTIONS")],
    ["PROPFIND", route("PROPFIND", item, { returns }, () => "PROPFIND")],
    ["TRACE", route("TRACE", item, { returns }, () => "TRACE")],
  ];
  it.each(all)("%s is answered by its own route", async (method) => {
    const app = Test.app(all.map(([, route]) => route));
    expect((await Test.call(app, method, "/item")).body).toBe(method);
  });
});

describe("405", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE"])(
    "RT-04 is the answer to a known method that the path does not have: %s",
    async (method) => {
      const { status, body, headers } = await Test.call(Test.app([hello]), method, "/hello/kim");
      expect([status, body]).toEqual([405, notAllowed]);
      expect(headers.get("allow")).toBe("GET, HEAD");
      expect(headers.get("content-type")).toBe("application/json");
    },
  );

  it("RT-04 HEAD is allowed only if GET is", async () => {
    const app = Test.app([gone]);
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await Test.call(app, method, "/hello/kim");
      expect([status, headers.get("allow")]).toEqual([405, "DELETE"]);
    }
  });

  const item = Path.of("api", "item");
  const text = { returns: Returns.text };
  it.each([
    ["RT-48", ["GET", "POST", "OPTIONS"], "GET, POST, OPTIONS, HEAD"],
    ["RT-48", ["POST", "GET", "PUT"], "POST, GET, PUT, HEAD"],
    ["RT-48", ["PURGE", "PUT"], "PURGE, PUT"],
  ])("%s Allow lists %j in the order they first appear, HEAD last", async (_id, methods, allow) => {
    const routes = methods.map((method) => route(method, item, text, () => ""));
    const { headers } = await Test.call(Test.app(routes), "DELETE", "/api/item");
    expect(headers.get("allow")).toBe(allow);
  });

  it("RT-48 Allow has the order of the whole list, without methods of other paths", async () => {
    const routes = [
      post(Path.of("other"), text, () => ""),
      put(Path.of("third"), text, () => ""),
      get(item, text, () => ""),
      post(item, text, () => ""),
    ];
    const { headers } = await Test.call(Test.app(routes), "DELETE", "/api/item");
    expect(headers.get("allow")).toBe("POST, GET, HEAD");
  });

  it("a path with a parameter that passes on has the method only if the parameter parses", async () => {
    const n = Path.int("n", { unparsed: "next-route" });
    const app = Test.app([get(Path.of("items", n), text, () => "")]);
    expect((await Test.call(app, "POST", "/items/5")).status).toBe(405);
    expect((await Test.call(app, "POST", "/items/pen")).status).toBe(404);
  });

  it("a path without a route is matched once, for any number of methods", async () => {
    const parse = vi.fn(() => Result.ok(1));
    const one = Path.param("n", Codec.custom<number>({ kind: "one", parse, print: String }), {
      unparsed: "next-route",
    });
    const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"];
    const asked = async (methods: readonly string[]): Promise<number> => {
      const app = Test.app(methods.map((method) => route(method, Path.of("items", one, "x"), text, () => "")));
      parse.mockClear();
      expect((await Test.call(app, "GET", "/items/5/y")).status).toBe(404);
      return parse.mock.calls.length;
    };
    expect(await asked(methods)).toBe(await asked(["GET"]));
  });
});

describe("501", () => {
  it.each(["PROPFIND", "TRACE", "CONNECT", "FOO", "get", "head", "options", "Post"])(
    "RT-36 answers an unknown method, for any target: %s",
    async (method) => {
      for (const target of ["/anywhere", "/hello/kim", "*"]) {
        const { status, body, headers } = await Test.call(Test.app([hello]), method, target);
        expect([status, body, headers.get("allow")]).toEqual([501, notImplemented, null]);
      }
    },
  );

  it("RT-36 a method that any route declares is known, and gets a 404 or a 405 on other paths", async () => {
    const app = Test.app([hello, route("PROPFIND", Path.of("files"), { returns: Returns.text }, () => "files")]);
    expect((await Test.call(app, "PROPFIND", "/files")).body).toBe("files");
    expect((await Test.call(app, "PROPFIND", "/nowhere")).status).toBe(404);
    expect((await Test.call(app, "PROPFIND", "/hello/kim")).status).toBe(405);
  });

  it("RT-37 has priority over the application's not-found answer", async () => {
    const app = Test.app([], { notFound: () => Answer.make("mine", { status: 404 }) });
    expect((await Test.call(app, "PROPFIND", "/anywhere")).body).toBe(notImplemented);
    expect((await Test.call(app, "GET", "/anywhere")).body).toBe("mine");
  });
});

describe("OPTIONS", () => {
  const a = Path.of("a");
  const here = get(a, { returns: Returns.text }, () => "a");

  it("RT-39 is a 204 with Allow on a path with a route", async () => {
    const { status, body, headers } = await Test.call(Test.app([here]), "OPTIONS", "/a");
    expect([status, body]).toEqual([204, ""]);
    expect([...headers.keys()].toSorted()).toEqual(["allow", "date", "x-request-id"]);
    expect(headers.get("allow")).toBe("GET, HEAD");
  });

  it("RT-40 is answered by the application's own OPTIONS route if there is one", async () => {
    const own = route("OPTIONS", a, { returns: Returns.text }, () => "mine");
    expect((await Test.call(Test.app([here, own]), "OPTIONS", "/a")).body).toBe("mine");
  });

  it("RT-42 is a 404 on any other path", async () => {
    const { status, body } = await Test.call(Test.app([here]), "OPTIONS", "/nowhere");
    expect([status, body]).toEqual([404, notFound]);
  });

  it("OPTIONS * is a 204, whatever routes there are", async () => {
    const every = get(Path.of(Path.rest("all")), { returns: Returns.text }, () => "");
    for (const routes of [[], [here], [every]]) {
      const { status, body, headers } = await Test.call(Test.app(routes), "OPTIONS", "*");
      expect([status, body, headers.get("content-type")]).toEqual([204, "", null]);
    }
  });

  it("the target * is refused for every other method", async () => {
    const every = get(Path.of(Path.rest("all")), { returns: Returns.text }, () => "every");
    expect((await Test.call(Test.app([here, every]), "GET", "*")).status).toBe(404);
  });
});

describe("HEAD", () => {
  const made = { returns: Returns.text, inputs: { addHeader } };
  const headed = get(Path.of("made"), made, ({ addHeader }) => {
    addHeader("x-made", "yes");
    return "héllo";
  });

  it("RT-09 is answered by the GET route: its head, without a body", async () => {
    const app = Test.app([headed]);
    const now = new Date(0);
    const whole = await Test.call(app, "GET", "/made", { now });
    const head = await Test.call(app, "HEAD", "/made", { now });
    const headers = (answered: { readonly headers: Headers }) =>
      [...answered.headers].filter(([name]) => name !== "x-request-id");
    expect([head.status, head.body]).toEqual([200, ""]);
    expect(headers(head)).toEqual(headers(whole));
    expect(head.headers.get("content-length")).toBe("6");
  });

  it.each([
    ["a 404", "/nowhere", 404],
    ["a 400", "/n/x", 400],
    ["a 500", "/raises", 500],
  ])("RT-09 of %s has Content-Length, and no body", async (_what, target, status) => {
    const n = Path.int("n");
    const numbered = get(Path.of("n", n), { inputs: { n: param(n) }, returns: Returns.text }, String);
    const raises = get(Path.of("raises"), { returns: Returns.text }, () => {
      throw new Error("no");
    });
    const app = Test.app([numbered, raises]);
    const whole = await Test.call(app, "GET", target);
    const head = await Test.call(app, "HEAD", target);
    expect([head.status, head.body]).toEqual([status, ""]);
    expect(head.headers.get("content-length")).toBe(String(whole.body.length));
  });

  it("does not start a stream of the application", async () => {
    let started = false;
    async function* parts() {
      started = true;
      yield new Uint8Array(1);
    }
    const own = get(Path.root, { returns: Returns.response }, () => Answer.stream(parts(), { length: 1 }));
    const { body, headers } = await Test.call(Test.app([own]), "HEAD", "/");
    expect([body, headers.get("content-length"), started]).toEqual(["", "1", false]);
  });

  it("cancels a platform stream without reading it", async () => {
    const cancel = vi.fn();
    const pull = vi.fn();
    const platform = get(Path.root, { returns: Returns.response }, () =>
      Answer.stream(new ReadableStream({ pull, cancel }, { highWaterMark: 0 })),
    );
    const { body, headers } = await Test.call(Test.app([platform]), "HEAD", "/");
    expect([body, headers.get("content-length")]).toEqual(["", null]);
    expect([cancel.mock.calls.length, pull.mock.calls.length]).toEqual([1, 0]);
  });
});
