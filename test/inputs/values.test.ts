/** Query, header and cookie values, one by one (contract 4.4; rows IN). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Codec,
  Cookie,
  Header,
  Path,
  Query,
  Result,
  Returns,
  Test,
  get,
  now,
  param,
  peer,
  client,
  requestId,
} from "usher-http";
import type { Inputs } from "usher-http";
import { invalid } from "../support/refusals.ts";
import "../support/logs.ts";

const texts = Returns.json(v.array(v.string()));
type Called = { readonly target?: string; readonly headers?: readonly (readonly [string, string])[] };

/** A route that answers with the values of these inputs as text. */
async function read(inputs: Inputs, { target = "/", headers = [] }: Called = {}): Promise<unknown> {
  const told = get(Path.root, { inputs, returns: texts }, (values) =>
    Object.values(values).map((value) => (value === undefined ? "-" : String(value))),
  );
  const { status, body, json } = await Test.call(Test.app([told]), "GET", target, { headers });
  return status === 200 ? json() : body;
}

const page = Query.default("page", Codec.int, 1);
const size = Header.default("x-size", Codec.int, 20);
const notWhole = "This is not a whole number.";

describe("all problems of a request at once", () => {
  const orderId = Path.int("order_id");
  const inputs = {
    id: param(orderId),
    page: Query.required("page", Codec.int),
    count: Header.optional("x-count", Codec.int),
  };
  const order = get(Path.of("orders", orderId), { inputs, returns: Returns.text }, () => "never");

  it("IN-01 are in the order of the inputs", async () => {
    const { status, body } = await Test.call(Test.app([order]), "GET", "/orders/x?page=two", {
      headers: { "x-count": "some" },
    });
    expect(status).toBe(400);
    expect(body).toBe(
      invalid(
        ["path.order_id", "malformed", notWhole],
        ["query.page", "malformed", notWhole],
        ["header.x-count", "malformed", notWhole],
      ),
    );
  });

  it("IN-01 do not depend on the names of the inputs", async () => {
    const reversed = { count: inputs.count, page: inputs.page, id: inputs.id };
    const route = get(Path.of("orders", orderId), { inputs: reversed, returns: Returns.text }, () => "never");
    const { body } = await Test.call(Test.app([route]), "GET", "/orders/x", { headers: { "x-count": "some" } });
    expect(body).toBe(
      invalid(
        ["header.x-count", "malformed", notWhole],
        ["query.page", "required", "This is required."],
        ["path.order_id", "malformed", notWhole],
      ),
    );
  });
});

describe("queries", () => {
  const text = Query.optional("q", Codec.string);
  const tag = Query.list("tag", Codec.enum("colour", ["blue", "gold"]));
  const loud = Query.optional("loud", Codec.bool);
  const n = Cookie.optional(Cookie.named("n", Codec.int));
  const typed = { tag, loud, n };

  it.each([
    ["IN", { q: Query.required("q", Codec.string) }, "/?q=1", ["1"]],
    ["IN", { q: text }, "/", ["-"]],
    ["IN", { q: text }, "/?", ["-"]],
    ["IN", { q: text }, "/?r=1", ["-"]],
    ["IN", { q: text }, "/?Q=1", ["-"]],
    ["IN-42", { q: text }, "/?q=", [""]],
    ["IN-42", { q: text }, "/?q", [""]],
    ["IN", { q: Query.required("q", Codec.string) }, "/?q", [""]],
    ["IN-15", { q: text }, "/?q=1&q=2", ["1"]],
    ["IN-15", { q: Query.optional("q", Codec.int) }, "/?q=1&q=x", ["1"]],
    ["IN-08", { page, size }, "/", ["1", "20"]],
    ["IN-09", { page }, "/?page=3", ["3"]],
    ["IN-11", { tag, loud }, "/?tag=blue&tag=gold&tag=blue&loud=true", ["blue,gold,blue", "true"]],
    ["IN-12", typed, "/", ["", "-", "-"]],
    ["IN", { q: Query.list("q", Codec.string) }, "/?q=&q=a&x=b&q", [",a,"]],
  ])("%s %# %s", async (_id, inputs, target, expected) => {
    expect(await read(inputs, { target })).toEqual(expected);
  });

  it.each([
    ["IN", { q: Query.required("page", Codec.int) }, "/", invalid(["query.page", "required", "This is required."])],
    ["IN-10", { page }, "/?page=x", invalid(["query.page", "malformed", notWhole])],
    ["IN-10", { page }, "/?page=", invalid(["query.page", "malformed", notWhole])],
    [
      "IN-13",
      typed,
      "/?tag=red&loud=yes",
      invalid(
        ["query.tag", "malformed", "This is not one of blue, gold."],
        ["query.loud", "malformed", "This is not true or false."],
      ),
    ],
    [
      "IN-13",
      typed,
      "/?tag=blue&tag=red&tag=black",
      invalid(["query.tag", "malformed", "This is not one of blue, gold."]),
    ],
  ])("%s %# %s is a 400", async (_id, inputs, target, expected) => {
    expect(await read(inputs, { target })).toBe(expected);
  });
});

describe("headers", () => {
  const value = Header.optional("X-Value", Codec.string);
  const named = (values: readonly string[]): Called => ({ headers: values.map((value) => ["x-value", value]) });

  it.each([
    ["IN-07", "x-value", "2", ["2"]],
    ["IN-07", "X-VALUE", "2", ["2"]],
    ["IN-18", "x-value", "  42  ", ["42"]],
    ["IN-18", "x-value", "\t 4 2 \t", ["4 2"]],
    ["IN", "x-value", "", [""]],
    ["IN", "x-other", "2", ["-"]],
  ])("%s %s: %j", async (_id, name, text, expected) => {
    expect(await read({ value }, { headers: [[name, text]] })).toEqual(expected);
  });

  it("IN-08, IN-09, IN-10 may have a default", async () => {
    expect(await read({ size })).toEqual(["20"]);
    expect(await read({ size }, { headers: [["x-size", "50"]] })).toEqual(["50"]);
    expect(await read({ size }, { headers: [["x-size", "big"]] })).toBe(
      invalid(["header.x-size", "malformed", notWhole]),
    );
  });

  it("may be required; a problem has the name as the route spelled it", async () => {
    const count = Header.required("X-Count", Codec.int);
    expect(await read({ count })).toBe(invalid(["header.X-Count", "required", "This is required."]));
    expect(await read({ count }, { headers: [["x-count", "y"]] })).toBe(
      invalid(["header.X-Count", "malformed", notWhole]),
    );
  });

  it.each([
    ["1", "1"],
    ["1", "2"],
    ["", ""],
  ])("IN-16 of a single value, sent on two lines: %j %j", async (...values) => {
    expect(await read({ value }, named(values))).toBe(
      invalid(["header.X-Value", "malformed", "This is given more than once."]),
    );
  });

  const words = Codec.custom<readonly string[]>({
    kind: "words",
    parse: (text) => Result.ok(text.split(",").map((word) => word.trim())),
    print: (words) => words.join(","),
    list: true,
  });
  it.each([
    ["accept", Codec.accept, ["text/html", "a/b;q=0.5"], 2],
    ["weighted", Codec.weighted, ["gzip", "br;q=0, identity"], 3],
    ["cacheControl", Codec.cacheControl, ["no-cache", "max-age=1"], 2],
    ["forwarded", Codec.forwarded, ["for=1.2.3.4", "for=5.6.7.8"], 2],
    ["structuredList", Codec.structuredList, ["a", "b, c"], 3],
    ["a list of the application's own", words, ["a", "b", "c"], 3],
  ] as const)("IN-16 %s is joined from several lines", async (_what, codec, lines, count) => {
    const length = Header.optional(
      "X-Value",
      Codec.custom({ ...(codec as Codec.Codec<readonly unknown[]>), kind: "list", list: true }),
    );
    const told = get(Path.root, { inputs: { length }, returns: Returns.text }, ({ length }) => String(length?.length));
    const { body } = await Test.call(Test.app([told]), "GET", "/", {
      headers: lines.map((line) => ["x-value", line] as const),
    });
    expect(body).toBe(String(count));
  });

  it.each([
    ["structuredItem", Codec.structuredItem],
    ["mediaType", Codec.mediaType],
    ["credentials", Codec.credentials],
  ] as const)("IN-16 %s is not a list", async (_what, codec) => {
    const once = Header.optional("x-value", codec as Codec.Codec<unknown>);
    expect(await read({ once }, named(["a", "a"]))).toBe(
      invalid(["header.x-value", "malformed", "This is given more than once."]),
    );
  });
});

describe("inputs about the request", () => {
  const at = new Date(42);

  it("IN-07 a query, a header, a cookie on several lines, and the clock", async () => {
    const inputs = {
      q: Query.optional("q", Codec.string),
      thing: Header.optional("X-Thing", Codec.string),
      b: Cookie.optional(Cookie.named("b", Codec.string)),
      c: Cookie.optional(Cookie.named("c", Codec.string)),
      now,
    };
    const who = get(Path.of("who"), { inputs, returns: texts }, ({ now, ...values }) => [
      ...Object.values(values).map(String),
      String(now.getTime()),
    ]);
    const headers = [
      ["x-thing", "2"],
      ["cookie", "a=1; b=3"],
      ["cookie", "c=4"],
    ] as const;
    const { json } = await Test.call(Test.app([who], { now: () => at }), "GET", "/who?q=1", { headers });
    expect(json()).toEqual(["1", "2", "3", "4", "42"]);
  });

  it("IN-45 now is one instant for the whole request", async () => {
    let tick = 0;
    const options = { now: () => new Date(tick++) };
    const inputs = { first: now, second: Query.optional("q", Codec.string), third: now };
    const told = get(
      Path.root,
      { inputs, returns: Returns.text },
      ({ first, third }) => `${first.getTime()} ${third.getTime()}`,
    );
    const app = Test.app([told], options);
    expect((await Test.call(app, "GET", "/")).body).toBe("0 0");
    expect((await Test.call(app, "GET", "/")).body).toBe("1 1");
    expect((await Test.call(app, "GET", "/", { now: at })).body).toBe("42 42");
  });

  it("IN-33 the id is the one of the answer", async () => {
    const told = get(Path.root, { inputs: { requestId }, returns: Returns.text }, ({ requestId }) => requestId);
    const { body, headers } = await Test.call(Test.app([told]), "GET", "/", { headers: { "x-request-id": "mine" } });
    expect(body).toBe(headers.get("x-request-id"));
    expect(body).toMatch(/^[0-9abcdefghjkmnpqrstvwxyz]{12}$/);
  });

  it("the peer is the other end of the connection; without a trusted proxy it is the client too", async () => {
    const told = get(
      Path.root,
      { inputs: { peer, client }, returns: Returns.text },
      ({ peer, client }) => `${peer} ${client}`,
    );
    const headers = { "x-forwarded-for": "6.6.6.6", forwarded: "for=6.6.6.6" };
    expect((await Test.call(Test.app([told]), "GET", "/", { headers, peer: "192.0.2.1" })).body).toBe(
      "192.0.2.1 192.0.2.1",
    );
  });
});

it("IN-16 a list codec of the application gets the header lines joined with commas", async () => {
  const given = Codec.custom<string>({ kind: "given", parse: Result.ok, print: String, list: true });
  const value = Header.optional("x-value", given);
  const told = get(Path.root, { inputs: { value }, returns: Returns.text }, ({ value }) => value ?? "none");
  const headers = ["a", "b", "", "c"].map((line) => ["x-value", line] as const);
  expect((await Test.call(Test.app([told]), "GET", "/", { headers })).body).toBe("a,b,,c");
});
