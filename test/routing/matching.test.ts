/** Which route matches a path (contract 4.2, rules 1 to 3; rows RT). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, Codec, Path, Result, Returns, Test, get, param, post } from "usher-http";
import type { Route } from "usher-http";
import { invalid, notAllowed, notFound } from "../support/refusals.ts";
import "../support/logs.ts";

type Segments = readonly (string | Path.AnyParam | Path.Rest)[];

const n = Path.int("n", { unparsed: "next-route" });
const even = Codec.custom<number>({
  kind: "even",
  parse: (text) => (/^\d*[02468]$/.test(text) ? Result.ok(Number(text)) : Result.error("This is not even.")),
  print: String,
});
const file = Path.rest("file");

/** A `GET` route that answers with a text of its own. */
function says(text: string, ...segments: Segments): Route {
  return get(Path.of(...segments), { returns: Returns.text }, () => text);
}

async function answers(routes: readonly Route[], target: string): Promise<string> {
  const { status, body } = await Test.call(Test.app(routes), "GET", target);
  return status === 200 ? body : String(status);
}

describe("a literal has priority over a parameter, in any order of the list", () => {
  const me = says("me", "users", "me");
  const user = says("user", "users", Path.str("id"));
  const mine = says("mine", Path.str("who"), "me", "x");

  it.each([
    ["RT", "/users/me", "me"],
    ["RT", "/users/kim", "user"],
    ["RT", "/users/ME", "user"],
    ["RT", "/users/%6De", "me"],
    ["RT", "/users/me/x", "mine"],
    ["RT-10", "/", "home"],
    ["RT", "/nowhere", "404"],
    ["RT", "/users", "404"],
    ["RT", "/users/me/y", "404"],
    ["RT-12", "/users/me/", "404"],
    ["RT-12", "/users//me", "404"],
    ["RT-12", "//users/me", "404"],
    ["RT-12", "//", "404"],
  ])("%s %s → %s", async (_id, target, expected) => {
    const routes = [me, user, mine, says("home")];
    expect(await answers(routes, target)).toBe(expected);
    expect(await answers(routes.toReversed(), target)).toBe(expected);
  });

  it("RT if the path behind a literal has no route, the parameter of the same segment is tried", async () => {
    const routes = [says("deep", "a", "b", "c"), says("other", Path.str("x"), "b", "d")];
    expect(await answers(routes, "/a/b/c")).toBe("deep");
    expect(await answers(routes, "/a/b/d")).toBe("other");
  });

  it("a literal is compared with the decoded segment, and may be any text", async () => {
    const routes = [says("odd", "a", "100%", "é{x}")];
    expect(await answers(routes, `/a/100%25/${encodeURIComponent("é{x}")}`)).toBe("odd");
    expect(await answers(routes, "/a/100%/%C3%A9{x}")).toBe("404");
  });
});

describe("a parameter that passes on to the next route", () => {
  const number = says("number", "items", n);
  const name = says("name", "items", Path.str("name"));
  const half = Path.param("n", even, { unparsed: "next-route" });
  const other = Path.param("m", Codec.custom<string>({ kind: "any", parse: Result.ok, print: String }), {
    unparsed: "next-route",
  });

  it.each([
    ["RT-18", [number, name], "/items/5", "number"],
    ["RT-18", [number, name], "/items/pen", "name"],
    ["RT-18", [name, number], "/items/5", "number"],
    ["RT-18", [name, number], "/items/pen", "name"],
    ["RT-19", [says("half", "half", half)], "/half/7", "404"],
    ["RT-19", [says("half", "half", half)], "/half/8", "half"],
    ["RT", [says("x", "a", n), says("me", "a", "7")], "/a/7", "me"],
    ["RT-24", [says("x", "a", Path.int("x", { unparsed: "next-route" })), says("y", "a", n)], "/a/5", "x"],
    ["RT-24", [says("half", "a", half), says("any", "a", other)], "/a/4", "half"],
    ["RT-24", [says("any", "a", other), says("half", "a", half)], "/a/4", "any"],
    ["RT-24", [says("half", "a", half), says("any", "a", other)], "/a/5", "any"],
    ["RT-25", [says("first", n, "b"), says("second", Path.str("q"), Path.str("r"))], "/7/b", "first"],
    ["RT-25", [says("first", n, "b"), says("second", Path.str("q"), Path.str("r"))], "/7/c", "second"],
    ["RT", [says("plain", half, Path.str("q")), says("literal", other, "b")], "/4/b", "literal"],
    ["RT", [says("plain", half, Path.str("q")), says("declines", other, n)], "/4/5", "declines"],
    ["RT", [says("rest", half, file), says("literal", other, "b", file)], "/4/b/c", "literal"],
    ["RT", [says("rest", half, file), says("plain", other, Path.str("q"), file)], "/4/b/c", "plain"],
    ["RT", [says("rest", other, file), says("half rest", half, file)], "/4/b/c", "rest"],
  ])("%s passed on %# %s", async (_id, routes, target, expected) => {
    expect(await answers(routes, target)).toBe(expected);
  });

  it("RT the segment that decides may be at any depth", async () => {
    const between = Array.from({ length: 60 }, (_, i) => `s${i}`);
    const routes = [says("plain", half, ...between, Path.str("q")), says("literal", other, ...between, "end")];
    expect(await answers(routes, `/4/${between.join("/")}/end`)).toBe("literal");
  });
});

describe("a parameter that does not parse", () => {
  const orderId = Path.int("order_id");
  const int = v.pipe(v.number(), v.integer());
  const order = get(
    Path.of("orders", orderId),
    { inputs: { id: param(orderId) }, returns: Returns.json(int) },
    ({ id }) => id,
  );
  const wrong = invalid(["path.order_id", "malformed", "This is not a whole number."]);

  it("RT-21 passes an integer that parses to the handler", async () => {
    expect(await answers([order], "/orders/7")).toBe("7");
  });

  it.each(["abc", "0x1f", "1_000", "%2B3", "7.0", "1e3", "%20", "7%20", "%EF%BC%97", "9007199254740992"])(
    "RT-22 /orders/%s is a 400 at its path, and never another route's",
    async (segment) => {
      const beside = says("rest", "orders", file);
      const { status, body } = await Test.call(Test.app([order, beside]), "GET", `/orders/${segment}`);
      expect([status, body]).toEqual([400, wrong]);
    },
  );

  it.each(["%", "%zz", "%4", "%ff", "%C3", "%C3%28", "%ED%A0%80", "%C0%AF", "%F5%80%80%80"])(
    "a segment of broken percent-encoding, %s, is a 400 and never a raise",
    async (segment) => {
      const { status, body } = await Test.call(Test.app([order]), "GET", `/orders/${segment}`);
      expect([status, body]).toEqual([400, wrong]);
      const text = Path.str("name");
      const named = get(Path.of(text), { inputs: { name: param(text) }, returns: Returns.text }, ({ name }) => name);
      const named400 = await Test.call(Test.app([named]), "GET", `/${segment}`);
      expect([named400.status, named400.body]).toEqual([400, invalid(["path.name", "malformed", "This is not text."])]);
    },
  );

  it("RT-43 a 64-bit number keeps every digit", async () => {
    const id = Path.int64("id");
    const user = get(Path.of("users", id), { inputs: { id: param(id) }, returns: Returns.text }, ({ id }) =>
      String(id),
    );
    expect(await answers([user], "/users/9007199254740993")).toBe("9007199254740993");
    expect(await answers([user], "/users/-9223372036854775808")).toBe("-9223372036854775808");
    expect(await answers([user], "/users/9223372036854775808")).toBe("400");
  });

  it("RT-45 is reported with the message of the codec", async () => {
    const tile = Path.param("tile", even);
    const tiles = get(Path.of("tiles", tile), { inputs: { tile: param(tile) }, returns: Returns.text }, String);
    const { body } = await Test.call(Test.app([tiles]), "GET", "/tiles/abc");
    expect(body).toBe(invalid(["path.tile", "malformed", "This is not even."]));
  });

  it("is a 400 also if no input reads it", async () => {
    expect(await answers([says("here", "x", Path.int("n"))], "/x/abc")).toBe("400");
    expect(await answers([says("here", "x", Path.int("n"))], "/x/12")).toBe("here");
  });
});

describe("the rest of a path", () => {
  const joined = get(Path.of("static", file), { inputs: { file: param(file) }, returns: Returns.text }, ({ file }) =>
    file.join("|"),
  );

  it.each([
    ["RT-27", "/static/css/site.css", "css|site.css"],
    ["RT-28", "/static", ""],
    ["RT-29", "/static/a%2Fb/c", "a/b|c"],
    ["RT-29", "/static/%2E%2E/%2e", "..|."],
    ["RT-30", "/static/a//b", "404"],
    ["RT-30", "/static/", "404"],
    ["RT-30", "/static/a/", "404"],
    ["RT-30", "/static//", "404"],
    ["RT-30", "/static//etc/passwd", "404"],
    ["RT-30", "/statics", "404"],
  ])("%s %s → %s", async (_id, target, expected) => {
    expect(await answers([joined], target)).toBe(expected);
  });

  it("broken percent-encoding in a rest is a 400", async () => {
    const { status, body } = await Test.call(Test.app([joined]), "GET", "/static/a/%zz");
    expect([status, body]).toEqual([400, invalid(["path.file", "malformed", "This is not text."])]);
  });

  const site = says("site", file);
  it.each([
    ["RT-31", "/api/health", "health"],
    ["RT-31", "/api/users/7", "user"],
    ["RT-31", "/api/users", "site"],
    ["RT-31", "/api/users/7/x", "site"],
    ["RT-31", "/", "site"],
    ["RT", "/api/v2/x", "api"],
  ])("%s has the lowest priority at any depth: %s → %s", async (_id, target, expected) => {
    const routes = [site, says("user", "api", "users", Path.str("id")), says("health", "api", "health")];
    expect(await answers([...routes, says("api", "api", "v2", file)], target)).toBe(expected);
  });

  it("RT-07 at the root it matches every path, so the not-found answer is never used", async () => {
    const app = Test.app([site], { notFound: () => Answer.html("a page", { status: 404 }) });
    expect((await Test.call(app, "GET", "/a/b")).body).toBe("site");
  });

  it("RT-33 does not match a path that another route has, under any method", async () => {
    const app = Test.app([site, post(Path.of("orders"), { returns: Returns.text }, () => "ordered")]);
    const named = await Test.call(app, "GET", "/orders");
    expect([named.status, named.headers.get("allow"), named.body]).toEqual([405, "POST", notAllowed]);
    expect((await Test.call(app, "POST", "/orders")).body).toBe("ordered");
    expect((await Test.call(app, "GET", "/orders/7")).body).toBe("site"); // RT-34
    expect((await Test.call(app, "POST", "/orders/7")).headers.get("allow")).toBe("GET, HEAD");
  });
});

describe("a path without a route", () => {
  it("RT is a 404", async () => {
    const { status, body, headers } = await Test.call(Test.app([]), "GET", "/nowhere");
    expect([status, body, headers.get("content-type")]).toEqual([404, notFound, "application/json"]);
  });

  it.each([404, 200, 410])("RT-06 gets the application's not-found answer, with its status %i", async (status) => {
    const app = Test.app([], { notFound: ({ path }) => Answer.html(`no ${path}`, { status }) });
    const answered = await Test.call(app, "GET", "/nowhere?x=1");
    expect([answered.status, answered.body]).toEqual([status, "no /nowhere"]);
    expect(answered.headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  it("RT-06 gets a standard Response too, also from a promise", async () => {
    const app = Test.app([], { notFound: async () => new Response("gone", { status: 410, headers: { "x-a": "1" } }) });
    const answered = await Test.call(app, "GET", "/nowhere");
    expect([answered.status, answered.body, answered.headers.get("x-a")]).toEqual([410, "gone", "1"]);
  });
});
