/**
 * What App.make refuses (contract 4.2 rule 9, 7.3; rows ST), with each message in full. Codes are in codes.test.ts,
 * cookies (ST-42, ST-43) in test/security.
 *
 * Tested elsewhere: ST-34 to ST-37 (static sites), ST-39 (broadcast),
 * ST-40 (keys), ST-45, ST-46 and ST-51 (the API document), ST-48 (trusted proxies), ST-49 (metrics), ST-52 and ST-54 (log
 * configuration).
 */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  App,
  Codec,
  Dep,
  Form,
  Header,
  Path,
  Query,
  Refusal,
  Returns,
  body,
  bodyStream,
  del,
  get,
  json,
  multipart,
  param,
  post,
  route,
} from "usher-http";
import type { AppOptions, Inputs, Route } from "usher-http";
import "../support/logs.ts";

const text = { returns: Returns.text };
const hello = () => "hello";
const name = Path.str("name");
const file = Path.rest("file");
const orderId = Path.int("order_id");
// The compiler refuses these where it knows the value.
const head: string = "HEAD";
const spaced: string = "A B";
const any = (status: number): number => status;

/** A `GET` route whose handler does not use its inputs. */
function reads(path: Path.Path, inputs: Inputs): Route {
  return get(path, { inputs, returns: Returns.text }, hello);
}

function returning(returns: Returns<never, unknown>): Route {
  return get(Path.of("r"), { returns }, hello as never);
}

/** The reason why App.make threw; undefined if it did not. */
function refused(routes: readonly Route[], options?: AppOptions): string | undefined {
  try {
    App.make(routes, options);
    return undefined;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Error);
    return (thrown as Error).message;
  }
}

describe("two routes of one method that match the same URL are refused", () => {
  const at = (...segments: (Path.Segment | Path.LiteralText)[]) => get(Path.of(...segments), text, hello);
  const once = "list it once";
  const decline = 'remove one, or give a parameter the option { unparsed: "next-route" }';
  it.each([
    ["ST-01", [at("hello", name), at("hello", name)], "GET /hello/{name} and GET /hello/{name}", once],
    ["ST-01", [at(), at()], "GET / and GET /", once],
    [
      "ST-02",
      [at("users", Path.int("user_id")), at("users", name)],
      "GET /users/{user_id} and GET /users/{name}",
      decline,
    ],
    ["ST-04", [at("a", file), at("a", Path.rest("other"))], "GET /a/{file*} and GET /a/{other*}", "remove one"],
    [
      "ST",
      [at(name, "x", orderId), at(orderId, "x", name)],
      "GET /{name}/x/{order_id} and GET /{order_id}/x/{name}",
      decline,
    ],
  ])("%s %#", (_id, routes, both, instead) => {
    expect(refused(routes)).toBe(`App.make: ${both} could both answer one URL: ${instead}`);
  });

  const declining = Path.int("n", { unparsed: "next-route" });
  it.each([
    ["ST-03", [at("hello", name), del(Path.of("hello", name), text, hello)]],
    ["ST", [at("a", name), at(name, "b")]],
    ["ST", [at("a", "b"), at("a", name), at("a", file)]],
    ["ST", [at("a", declining), at("a", declining), at("a", name)]],
    ["ST", [at("a", name, file), at("a", file)]],
    ["ST", [at(Path.s("{name}")), at(name)]],
  ])("%s %# is accepted", (_id, routes) => {
    expect(refused(routes)).toBeUndefined();
  });
});

describe("paths", () => {
  const order = param(orderId);
  it.each([
    [
      "ST-05",
      reads(Path.of("orders"), { order }),
      "GET /orders reads the path parameter order_id, which its path does not have: give Path.of the same parameter",
    ],
    [
      "ST-05",
      reads(Path.of("orders"), { deep: Dep.join({ x: Dep.map(order, String) }, ({ x }) => x) }),
      "GET /orders reads the path parameter order_id, which its path does not have: give Path.of the same parameter",
    ],
    [
      "ST-05",
      reads(Path.of("s"), { f: param(file) }),
      "GET /s reads the path parameter file, which its path does not have: give Path.of the same parameter",
    ],
    [
      "ST-05",
      reads(Path.of("o", orderId), { id: param(Path.str("order_id")) }),
      "GET /o/{order_id} reads the path parameter order_id (string), and its path has another of that name (integer): " +
        "make it once, and use that one in both",
    ],
    [
      "ST-05",
      reads(Path.of("o", orderId), { id: Dep.map(param(Path.int("order_id")), String) }),
      "GET /o/{order_id} reads the path parameter order_id (integer), and its path has another of that name (integer): " +
        "make it once, and use that one in both",
    ],
    [
      "ST-05",
      reads(Path.of("o", orderId), { id: param(Path.int("order_id", { unparsed: "next-route" })) }),
      "GET /o/{order_id} reads the path parameter order_id (integer, next-route), and its path has another of that name " +
        "(integer): make it once, and use that one in both",
    ],
    [
      "ST-05",
      reads(Path.of("o", file), { file: param(Path.param("file", Codec.enum("size", ["s", "m"]))) }),
      "GET /o/{file*} reads the path parameter file (size), and its path has another of that name (rest): " +
        "make it once, and use that one in both",
    ],
    [
      "ST-07",
      get(Path.of(orderId, "x", Path.str("order_id")), text, hello),
      "GET /{order_id}/x/{order_id} names the parameter order_id twice",
    ],
    ["ST-07", get(Path.of(name, Path.rest("name")), text, hello), "GET /{name}/{name*} names the parameter name twice"],
    [
      "ST-09",
      get(Path.of("a", file, "b"), text, hello),
      "GET /a/{file*}/b has the rest of its path, file, before its end, where nothing after it could be matched",
    ],
    [
      "ST",
      get(Path.of("a", ""), text, hello),
      'GET /a/ has the literal segment "", which no URL can match: write each by itself, without "/"',
    ],
    [
      "ST",
      get(Path.of("a/b"), text, hello),
      'GET /a/b has the literal segment "a/b", which no URL can match: write each by itself, without "/"',
    ],
    [
      "ST",
      get(Path.of("/a"), text, hello),
      'GET //a has the literal segment "/a", which no URL can match: write each by itself, without "/"',
    ],
  ])("%s %#", (_id, route, problem) => {
    expect(refused([route])).toBe(`App.make: ${problem}`);
  });

  it("ST-06 a parameter behind Dep.bind is checked only at a request", () => {
    expect(refused([reads(Path.of("orders"), { late: Dep.bind(Dep.return(1), () => order) })])).toBeUndefined();
  });
});

describe("methods and headers", () => {
  it.each([
    [
      "ST-10",
      route(head, Path.of("a"), text, hello),
      "HEAD /a: a HEAD is answered by the GET route, so declare that instead",
    ],
    ["ST", route(spaced, Path.of("a"), text, hello), 'A B /a: "A B" is no method'],
    ["ST", route("", Path.of("a"), text, hello), ' /a: "" is no method'],
    [
      "ST",
      reads(Path.of("a"), { x: Header.optional("x y", Codec.string) }),
      'GET /a reads the header "x y", which is no header\'s name',
    ],
  ])("%s %#", (_id, route, problem) => {
    expect(refused([route])).toBe(`App.make: ${problem}`);
  });
});

describe("a body that is read in two ways", () => {
  const Name = v.object({ name: v.string() });
  const named = json(Name);
  const parsed = Dep.ofBody({ contentTypes: ["text/plain"] }, () => "x");
  const twoWays = (ways: string) => `App.make: POST /b reads its body as ${ways}, where a body is read one way`;
  const shared = bodyStream({ max: 10 });
  const posts = (inputs: Inputs) => [post(Path.of("b"), { inputs, returns: Returns.text }, hello)];

  it.each([
    ["ST-12", "bytes and as stream", { body, stream: bodyStream({ max: 10 }) }],
    ["ST-13", "json and as form", { named, field: Form.optional("a", Codec.string) }],
    ["ST-13", "json and as form", { named, file: Form.File.optional("a") }],
    ["ST-15", "form and as multipart", { field: Form.checked("a"), parts: multipart({ max: 10 }) }],
    ["ST-18", "json and as bytes", { named, body }],
    [
      "ST",
      "json and as bytes",
      {
        named,
        deep: Dep.map(
          Dep.join({ x: body }, ({ x }) => x),
          String,
        ),
      },
    ],
  ])("%s %# is refused: as %s", (_id, ways, inputs) => {
    expect(refused(posts(inputs))).toBe(twoWays(ways));
  });

  it.each([
    ["body and Dep.ofBody", "inputs by body and Dep.ofBody", { body, parsed }],
    [
      "two of one type",
      "inputs by body and Dep.ofBody",
      { parsed, other: Dep.ofBody({ contentTypes: ["text/plain"] }, () => "x") },
    ],
    ["ST-12 two streams", "inputs as stream", { stream: bodyStream({ max: 10 }), other: bodyStream({ max: 10 }) }],
    ["two multipart streams", "inputs as multipart", { parts: multipart({ max: 10 }), other: multipart({ max: 11 }) }],
  ])("ST two inputs that read the body in one way are refused in words of their own: %s", (_what, by, inputs) => {
    expect(refused(posts(inputs))).toBe(
      `App.make: POST /b reads its body by 2 ${by}, where a body is read one way: make one input, and take its parts by Dep.map`,
    );
  });

  it.each([
    ["two of one shape", 2, { named, other: json(Name) }],
    ["one behind another input", 2, { named, other: Dep.map(json(v.object({ age: v.number() })), ({ age }) => age) }],
    ["three", 3, { named, other: json(Name), third: json(v.any()) }],
  ])("ST two JSON inputs are refused with their own message: %s", (_what, count, inputs) => {
    expect(refused(posts(inputs))).toBe(
      `App.make: POST /b reads its body by ${count} json inputs, where a body is read one way: ` +
        "make one json of the whole shape, and take its parts by Dep.map",
    );
  });

  it.each([
    ["ST", { named, again: named, through: Dep.map(named, ({ name }) => name) }],
    ["ST-16", { a: Form.required("a", Codec.string), b: Form.list("b", Codec.int), f: Form.File.list("f") }],
    ["ST", { shared, through: Dep.map(shared, (body) => body) }],
    ["ST", { body, size: Dep.map(body, (bytes) => bytes.length), joined: Dep.join({ body }, ({ body }) => body) }],
  ])("%s %# is accepted: several inputs read one body the same way", (_id, inputs) => {
    expect(refused(posts(inputs))).toBeUndefined();
  });
});

describe("the content types of a body", () => {
  const reading = (input: Inputs[string]) => [post(Path.of("b"), { inputs: { input }, returns: Returns.text }, hello)];
  const typed = (type: string) => Dep.ofBody({ contentTypes: [type] }, () => "x");

  it.each<readonly [input: Inputs[string], problem: string]>([
    [bodyStream({ max: -1 }), "POST /b reads a body of at most -1 bytes, which is not a number of bytes"],
    [bodyStream({ max: 1.5 }), "POST /b reads a body of at most 1.5 bytes, which is not a number of bytes"],
    [multipart({ max: Number.NaN }), "POST /b reads a body of at most NaN bytes, which is not a number of bytes"],
    [
      multipart({ max: 10, maxHead: 0 }),
      "POST /b reads parts with heads of at most 0 bytes, which is not a number of bytes",
    ],
    ...["text", "text/", "*/*", "*", "text/csv; a=b", "text/c*", "text/*csv", "a/b/c", "te xt/a"].map(
      (type) =>
        [
          typed(type),
          `POST /b accepts the content type "${type}", which is neither type/subtype, type/* nor type/*+suffix`,
        ] as const,
    ),
  ])("%# is refused", (input, problem) => {
    expect(refused(reading(input))).toBe(`App.make: ${problem}`);
  });

  it.each(["text/csv", "image/*", "application/*+json", "Text/CSV"])("%s is accepted", (type) => {
    expect(refused(reading(bodyStream({ max: 10, contentTypes: [type] })))).toBeUndefined();
  });
});

describe("answers", () => {
  const shape = v.string();
  const statuses = (...listed: number[]) => Object.fromEntries(listed.map((status) => [status, "Yes."]));
  it.each([
    ["ST-19", Returns.jsonResponse(shape, statuses()), "GET /r lists no status to answer"],
    ["ST-19", Returns.emptyResponse(statuses()), "GET /r lists no status to answer"],
    ["ST", Returns.responses({}), "GET /r lists no status to answer"],
    ["ST", Returns.responses({ 101: "", 103: "" }), "GET /r lists 103, which no answer has"],
    ["ST", Returns.responses({ 600: "" }), "GET /r lists 600, which no answer has"],
    [
      "ST",
      Returns.jsonResponse(shape, statuses(200, 404)),
      "GET /r lists 404, which is not a success: failing is a refusal",
    ],
    ["ST", Returns.emptyResponse(statuses(302)), "GET /r lists 302, which is not a success: failing is a refusal"],
    ["ST", Returns.json(shape, { status: any(400) }), "GET /r lists 400, which is not a success: failing is a refusal"],
    ["ST", Returns.json(shape, { status: any(199) }), "GET /r lists 199, which is not a success: failing is a refusal"],
    [
      "ST",
      Returns.json(shape, { status: any(200.5) }),
      "GET /r lists 200.5, which is not a success: failing is a refusal",
    ],
    ["ST", Returns.empty({ status: any(300) }), "GET /r lists 300, which is not a success: failing is a refusal"],
    [
      "ST-22",
      Returns.json(shape, { status: any(204) }),
      "GET /r answers JSON under 204, which HTTP sends without a body: use Returns.empty",
    ],
    [
      "ST-22",
      Returns.json(shape, { status: any(205) }),
      "GET /r answers JSON under 205, which HTTP sends without a body: use Returns.empty",
    ],
    [
      "ST-22",
      Returns.jsonResponse(shape, statuses(200, 204)),
      "GET /r answers JSON under 204, which HTTP sends without a body: use Returns.empty",
    ],
  ])("%s %#", (_id, returns, problem) => {
    expect(refused([returning(returns)])).toBe(`App.make: ${problem}`);
  });

  it("ST any 2xx is a success", () => {
    const good = [200, 201, 202, 203, 206, 226, 299];
    for (const status of good) expect(refused([returning(Returns.json(shape, { status }))])).toBeUndefined();
    expect(refused([returning(Returns.emptyResponse(statuses(204, 205, ...good)))])).toBeUndefined();
  });

  it("a shape that cannot be read or written is refused, with its route", () => {
    expect(refused([returning(Returns.json(v.date() as never))])).toMatch(/^App\.make: GET \/r: ./);
    const into = post(Path.of("r"), { inputs: { x: json(v.set(v.string()) as never) }, returns: Returns.text }, hello);
    expect(refused([into])).toMatch(/^App\.make: POST \/r: ./);
  });
});

describe("resources and limits", () => {
  const store = Dep.ofResource<string>("store");
  const hub = Dep.ofResource<string>("hub");
  const routes = [reads(Path.of("x"), { deep: Dep.map(store, String), hub })];

  it.each([
    [
      "ST",
      [],
      "\n- GET /x reads the resource store, which the option resources lacks: add Dep.resource(…, value)\n- GET /x reads the resource hub, which the option resources lacks: add Dep.resource(…, value)",
    ],
    [
      "ST",
      [Dep.resource(hub, "h")],
      " GET /x reads the resource store, which the option resources lacks: add Dep.resource(…, value)",
    ],
    [
      "ST-33",
      [Dep.resource(hub, "h"), Dep.resource(store, "a"), Dep.resource(store, "b"), Dep.resource(store, "c")],
      " the resource store is supplied twice",
    ],
  ])("%s %#", (_id, resources, problem) => {
    expect(refused(routes, { resources })).toBe(`App.make:${problem}`);
  });

  it("a resource that many routes lack is one line", () => {
    const more = ["y", "z"].map((name) => reads(Path.of(name), { twice: Dep.map(store, String), store }));
    expect(refused([...routes, ...more])).toBe(
      "App.make:\n- GET /x and 2 other routes read the resource store, which the option resources lacks: add Dep.resource(…, value)\n- GET /x reads the resource hub, which the option resources lacks: add Dep.resource(…, value)",
    );
    const two = [...routes, ...more].slice(0, 2);
    expect(refused(two, { resources: [Dep.resource(hub, "h")] })).toMatch(/GET \/x and 1 other route read the/);
  });

  it("a resource that no route reads may be supplied; its value may be undefined", () => {
    const given = [Dep.resource(hub, "h"), Dep.resource(store, undefined as never)];
    expect(
      refused(routes, { resources: [...given, Dep.resource(Dep.ofResource<number>("other"), 1)] }),
    ).toBeUndefined();
  });

  it.each(["maxBody", "bodyBudget", "bodyShare"])("%s is a whole number of bytes, 0 or more", (limit) => {
    for (const value of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      const said = `App.make: ${limit} is a whole number of bytes, 0 or more, and not ${value}`;
      expect(refused([], { [limit]: value })).toBe(said);
    }
    expect(refused([], { [limit]: 0 })).toBeUndefined();
  });
});

it("all mistakes are reported at once, in one error", () => {
  const bad = Refusal.code("bad", { status: any(200), doc: "No." });
  const routes = [
    reads(Path.of("a", name, Path.int("name")), { order: param(orderId), q: Query.optional("q", Codec.int) }),
    route(head, Path.root, text, hello),
    get(Path.of("c"), { ...text, refuses: [bad] }, hello),
    get(Path.of("c"), text, hello),
    returning(Returns.json(v.string(), { status: any(404) })),
  ];
  expect(refused(routes, { maxBody: -1 })?.split("\n")).toEqual([
    "App.make:",
    "- GET /a/{name}/{name} names the parameter name twice",
    "- GET /a/{name}/{name} reads the path parameter order_id, which its path does not have: give Path.of the same parameter",
    "- HEAD /: a HEAD is answered by the GET route, so declare that instead",
    "- GET /r lists 404, which is not a success: failing is a refusal",
    "- GET /c and GET /c could both answer one URL: list it once",
    "- the code bad in GET /c is a 200, where a refusal is 4xx or 5xx",
    "- maxBody is a whole number of bytes, 0 or more, and not -1",
  ]);
});
