/** The API document (contract 1.4, 4.4, 5.4, 7.2; rows OA). */
import { describe, expect, it } from "vitest";
import {
  Codec,
  Cookie,
  Dep,
  Header,
  Openapi,
  Path,
  Query,
  Returns,
  Shape,
  get,
  json,
  now,
  param,
  post,
  request,
  requestId,
  route,
  setCookie,
} from "usher-http";
import type { Inputs, Route } from "usher-http";
import * as v from "valibot";
import "../support/logs.ts";
import { add } from "./add.ts";
import { plain, root, signedOut } from "./small-routes.ts";
import { described, jsonSchema, operation } from "./described.ts";

describe("the document", () => {
  it("OA-01 has its version, and the API's name and version", () => {
    const { openapi, info } = described([add], { title: "Orders", version: "1" });
    expect([openapi, JSON.stringify(info)]).toEqual(["3.2.0", '{"title":"Orders","version":"1"}']);
    expect(described([add]).info).toEqual({ title: "API", version: "0" });
  });

  it("OA has no extra members, and has its members in order", () => {
    expect(Object.keys(described([add]))).toEqual(["openapi", "info", "paths", "components"]);
    expect(Object.keys(operation(add))).toEqual(
      "operationId summary tags parameters requestBody responses security".split(" "),
    );
  });

  it("OA has the same bytes for the same routes, in their order", () => {
    const routes = [plain, add, root({})];
    expect(JSON.stringify(Openapi.document(routes))).toBe(JSON.stringify(Openapi.document(routes)));
    expect(Object.keys(described(routes).paths)).toEqual(["/plain", "/orders/{order_id}/items", "/"]);
  });

  it("OA has operation ids of method and path", () => {
    const odd = get(Path.of("a b", "c-d", Path.str("e_f")), { returns: Returns.text }, () => "");
    const { paths } = described([odd]);
    expect(paths).toMatchObject({ "/a%20b/c-d/{e_f}": { get: { operationId: "get_a_b_c_d_e_f" } } });
    expect([operation(add).operationId, operation(root({})).operationId]).toEqual([
      "post_orders_order_id_items",
      "get_root",
    ]);
  });

  it("OA leaves out routes with a rest", () => {
    const files = get(Path.of("files", Path.rest("path")), { returns: Returns.text }, () => "");
    expect(described([files, plain]).paths).toEqual(described([plain]).paths);
  });

  it("OA has methods that OpenAPI does not know under additionalOperations", () => {
    const find = route("PROPFIND", Path.of("a"), { returns: Returns.text }, () => "");
    const query = route("QUERY", Path.of("a"), { returns: Returns.text }, () => "");
    const newer = described([find, query]).paths["/a"];
    expect(newer).toMatchObject({ additionalOperations: { PROPFIND: { operationId: "propfind_a" } }, query: {} });
    const older = described([find, query], { openapi: "3.1" }).paths["/a"];
    expect(Object.keys(older ?? {})).toEqual(["x-additionalOperations"]);
  });
});

describe("an operation: parameters", () => {
  it("OA-03 has the route's summary, description and tags", () => {
    expect(operation(add)).toMatchObject({ summary: "Add an item", tags: ["orders"] });
    const described = get(Path.root, { description: "At length.", returns: Returns.text }, () => "");
    expect(operation(described).description).toBe("At length.");
    expect(operation(plain)).not.toHaveProperty("tags");
  });

  it("OA-04 lists the path's parameters, then the others as they are read, without the credential", () => {
    const listed = operation(add).parameters?.map(({ name, in: place, schema }) =>
      [name, place, schema["type"]].join(":"),
    );
    expect(listed).toEqual([
      "order_id:path:integer",
      "page:query:integer",
      "weight:query:number",
      "limit:query:integer",
      "since:query:string",
      "after:query:string",
      "x-request:header:string",
    ]);
  });

  it("OA-06 has defaults as JSON", () => {
    const inputs = {
      limit: Query.default("limit", Codec.int, 20),
      loud: Query.default("loud", Codec.bool, true),
      ratio: Header.default("x-ratio", Codec.float, 0.5),
      day: Query.default("day", Codec.date, [2026, 1, 2]),
      most: Query.default("most", Codec.int64, 2n ** 62n),
    };
    expect(operation(root(inputs)).parameters).toEqual([
      { name: "limit", in: "query", required: false, schema: { type: "integer", default: 20 } },
      { name: "loud", in: "query", required: false, schema: { type: "boolean", default: true } },
      { name: "x-ratio", in: "header", required: false, schema: { type: "number", default: 0.5 } },
      { name: "day", in: "query", required: false, schema: { type: "string", format: "date", default: "2026-01-02" } },
      { name: "most", in: "query", required: false, schema: { type: "integer" } },
    ]);
  });

  it.each([
    [Codec.string, { type: "string" }],
    [Codec.int32, { type: "integer", format: "int32" }],
    [Codec.int64, { type: "integer" }],
    [Codec.bool, { type: "boolean" }],
    [Codec.uuid, { type: "string", format: "uuid" }],
    [Codec.instant, { type: "string", format: "date-time" }],
    [Codec.enum("size", ["small", "large"]), { type: "string", enum: ["small", "large"] }],
    [Codec.accept, { type: "string" }],
    [
      Codec.custom({ kind: "sku", parse: (text) => ({ ok: true, value: text }), print: String }),
      { type: "string", title: "sku" },
    ],
  ] as const)("OA-07 a list, and OA-09 one of %j", (codec, schema) => {
    const inputs = {
      one: Query.required("one", codec as Codec<unknown>),
      list: Query.list("list", codec as Codec<unknown>),
      cookie: Cookie.optional(Cookie.named("cookie", codec as Codec<unknown>)),
    };
    expect(operation(root(inputs)).parameters).toEqual([
      { name: "one", in: "query", required: true, schema },
      { name: "list", in: "query", required: false, schema: { type: "array", items: schema } },
      { name: "cookie", in: "cookie", required: false, schema },
    ]);
  });
});

describe("an operation: other inputs", () => {
  it("OA-09 path parameters are required, and listed even if they are not read", () => {
    const id = Path.param("id", Codec.uuid);
    const unread = get(Path.of("a", id), { returns: Returns.text }, () => "");
    const parameter = { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } };
    expect(operation(unread).parameters).toEqual([parameter]);
    expect(
      operation(get(Path.of("a", id), { inputs: { id: param(id) }, returns: Returns.text }, () => "")).parameters,
    ).toEqual([parameter]);
  });

  it("OA lists an input that is read twice once, and as required if one of them requires it", () => {
    const inputs = {
      a: Header.optional("X-A", Codec.string),
      b: Header.required("x-a", Codec.string),
      c: Query.optional("c", Codec.int),
      d: Query.optional("c", Codec.enum("d", ["1", "2"])),
    };
    expect(operation(root(inputs)).parameters).toEqual([
      { name: "X-A", in: "header", required: true, schema: { type: "string" } },
      {
        name: "c",
        in: "query",
        required: false,
        schema: { allOf: [{ type: "integer" }, { type: "string", enum: ["1", "2"] }] },
      },
    ]);
  });

  it("OA lists what an application's own reader declares", () => {
    const token = Dep.ofRequest(() => 1, {
      needs: [
        { in: "header", name: "x-token", required: true },
        { in: "query", name: "t" },
        { custom: "the certificate" },
      ],
    });
    expect(operation(root({ token }))).toMatchObject({
      parameters: [
        { name: "x-token", in: "header", required: true, schema: { type: "string" } },
        { name: "t", in: "query", required: false, schema: { type: "string" } },
      ],
      "x-reads": ["the certificate"],
    });
  });

  it("OA-39 does not list resources and constants", () => {
    const store = Dep.ofResource<number>("store");
    expect(operation(root({ store, now, requestId, setCookie }))).toEqual({ ...operation(root({})) });
    expect(JSON.stringify(described([root({ store })]))).not.toContain("store");
  });
});

describe("credentials in the document", () => {
  const bearer = Dep.credential("bearer", Header.optional("authorization", Codec.credentials));
  const key = Dep.credential("key", Query.required("key", Codec.string));

  it("OA-25 may be in a cookie", () => {
    expect(described([add]).components.securitySchemes).toEqual({
      session: { type: "apiKey", in: "cookie", name: "session", description: "Who is signed in." },
    });
  });

  it("OA may have any name that OpenAPI allows", () => {
    const odd = Dep.credential("constructor", Header.optional("x-own", Codec.string));
    expect(Object.entries(described([root({ odd })]).components.securitySchemes ?? {})).toEqual([
      ["constructor", { type: "apiKey", in: "header", name: "x-own" }],
    ]);
  });

  it("OA-27 may be in Authorization", () => {
    expect(described([root({ bearer })]).components.securitySchemes).toEqual({
      bearer: { type: "http", scheme: "bearer" },
    });
  });

  it("OA may be in a query, and from an application's own reader", () => {
    const own = Dep.credential(
      "own",
      Dep.ofRequest(() => 1, { needs: [{ in: "header", name: "x-own" }] }),
    );
    const unknown = Dep.credential("unknown", request);
    expect(described([root({ key, own, unknown })]).components.securitySchemes).toEqual({
      key: { type: "apiKey", in: "query", name: "key" },
      own: { type: "apiKey", in: "header", name: "x-own" },
      unknown: { type: "apiKey", in: "cookie", name: "unknown" },
    });
  });

  it("OA-28 are required if the route may refuse with 401, or its input is required", () => {
    const refusing = get(Path.root, { inputs: { bearer }, returns: Returns.text, refuses: [signedOut] }, () => "");
    expect(operation(refusing).security).toEqual([{ bearer: [] }]);
    expect(operation(root({ bearer })).security).toEqual([{ bearer: [] }, {}]);
    expect(operation(root({ key })).security).toEqual([{ key: [] }]);
    expect(operation(root({ bearer, again: bearer, key })).security).toEqual([{ bearer: [] }, { key: [] }]);
    expect(operation(plain)).not.toHaveProperty("security");
  });

  it("OA are optional, or required, if the route says so", () => {
    const header = Header.optional("authorization", Codec.credentials);
    const optional = Dep.credential("bearer", header, { optional: true });
    const needed = Dep.credential("bearer", header, { optional: false });
    const refusing = (inputs: Inputs) =>
      get(Path.root, { inputs, returns: Returns.text, refuses: [signedOut] }, () => "");
    const other = Dep.credential("other", Header.optional("x-other", Codec.string), { optional: true });
    expect(operation(refusing({ optional })).security).toEqual([{ bearer: [] }, {}]);
    expect(operation(root({ needed })).security).toEqual([{ bearer: [] }]);
    expect(operation(refusing({ optional, other })).security).toEqual([{ bearer: [] }, { other: [] }, {}]);
    expect(operation(refusing({ needed, other })).security).toEqual([{ bearer: [] }, { other: [] }]);
    expect(() =>
      described([root({ key: Dep.credential("key", Query.required("key", Codec.string), { optional: true }) })]),
    ).toThrow("GET / has the optional credential key, which reads what must be sent");
  });

  it("OA their source is listed if another input reads it too", () => {
    const cookie = Cookie.optional(Cookie.named("c", Codec.string));
    const both = root({ who: Dep.credential("c", cookie), cookie });
    expect(operation(both).parameters?.map(({ name }) => name)).toEqual(["c"]);
  });

  it("OA one scheme has one definition, with a name that OpenAPI allows", () => {
    const other = Dep.credential("bearer", Header.optional("x-bearer", Codec.string));
    const routes = [root({ bearer }), get(Path.of("a"), { inputs: { other }, returns: Returns.text }, () => "")];
    expect(() => Openapi.document(routes)).toThrow("the credential bearer of GET /a differs from an earlier one");
    const odd = root({ odd: Dep.credential("an id", Header.optional("a", Codec.string)) });
    expect(() => Openapi.document([odd])).toThrow(
      'GET / has the credential "an id", which is not a valid name in OpenAPI',
    );
  });
});

describe("schemas that the document only approximates", () => {
  it("OA-51 inputs that are known only during a request", () => {
    const bound = Dep.bind(Query.required("a", Codec.int), () => now);
    const own = Dep.ofRequest(() => 1);
    const routes = [
      get(Path.of("bound"), { inputs: { bound }, returns: Returns.text }, () => ""),
      get(Path.of("own"), { inputs: { own }, returns: Returns.text }, () => ""),
      get(Path.of("all"), { inputs: { request }, returns: Returns.text }, () => ""),
      plain,
    ];
    const more = "reads more than it says (a bind, or a dependency with no needs)";
    expect(Openapi.report(routes)).toEqual([`GET /all: ${more}`, `GET /bound: ${more}`, `GET /own: ${more}`]);
    expect(operation(routes[0] as Route).parameters?.map(({ name }) => name)).toEqual(["a"]);
  });

  it("OA-49 a limit above 2^53 is left out", () => {
    const shape = v.pipe(Shape.int64, v.minValue(1n), v.maxValue(2n ** 60n));
    const route = get(Path.of("n"), { returns: Returns.json(shape) }, () => 1n);
    expect(jsonSchema(operation(route).responses["200"])).toEqual({
      type: "integer",
      format: "int64",
      minimum: 1,
    });
    expect(Openapi.report([route])).toEqual(["GET /n: answer has a bound that JSON Schema cannot write"]);
  });

  it("OA any JSON, recursion without a name, and patterns, each in its place", () => {
    const named = Shape.named("Named", v.object({ any: v.unknown(), code: v.pipe(v.string(), v.regex(/^a/i)) }));
    const tree: v.GenericSchema = v.object({ kids: v.array(v.lazy(() => tree)) });
    const route = post(
      Path.of("a"),
      { inputs: { named: json(v.array(named)) }, returns: Returns.json(v.object({ tree })) },
      () => ({ tree: { kids: [] } }),
    );
    expect(Openapi.report([route])).toEqual([
      "Named.any may be any JSON",
      "Named.code has a pattern that JSON Schema cannot write",
      "POST /a: answer.tree.kids[].kids[] refers to itself and has no name: give the shape one with Shape.named",
    ]);
  });

  it("OA a recursive shape is described some levels deep", () => {
    const tree = (): v.GenericSchema => v.object({ left: v.lazy(() => tree()), right: v.lazy(() => tree()) });
    const route = get(Path.of("a"), { returns: Returns.json(tree()) }, () => ({}));
    const loose = Openapi.report([route]);
    expect(loose).toHaveLength(64);
    expect(loose[0]).toMatch(/^GET \/a: answer(\.left){6} refers to itself and has no name/);
  });

  it("OA nothing of a route that is described completely", () => {
    expect(Openapi.report([add, plain])).toEqual([]);
  });
});
