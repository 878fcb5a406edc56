/** The API document (contract 1.4, 4.4, 5.4, 7.2; rows OA). */
import { describe, expect, it } from "vitest";
import {
  Codec,
  Cookie,
  Dep,
  Event,
  Form,
  Header,
  Health,
  Openapi,
  Path,
  Query,
  Rate,
  Refusal,
  Returns,
  Shape,
  Socket,
  Test,
  body,
  bodyStream,
  client,
  del,
  get,
  json,
  multipart,
  now,
  param,
  post,
  put,
  request,
  requestId,
  route,
  setCookie,
} from "usher-http";
import type { Route } from "usher-http";
import * as v from "valibot";
import * as refusals from "../../src/refusals.ts";
import type { Code } from "../../src/refusals.ts";
import "../support/logs.ts";
import { Item, add } from "./add.ts";
import { described, jsonSchema, memberOf, operation } from "./described.ts";

const plain = get(Path.of("plain"), { returns: Returns.text }, () => "");
const root = (inputs: NonNullable<Parameters<typeof get>[1]["inputs"]>): Route =>
  get(Path.root, { inputs, returns: Returns.text }, () => "");
const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Bearer" });
const refusalRef = { $ref: "#/components/schemas/Refusal" };

function statuses(route: Route): readonly string[] {
  return Object.keys(operation(route).responses);
}

describe("the document", () => {
  it("OA-01 says its version, and the API's name and version", () => {
    const { openapi, info } = described([add], { title: "Orders", version: "1" });
    expect([openapi, JSON.stringify(info)]).toEqual(["3.2.0", '{"title":"Orders","version":"1"}']);
    expect(described([add]).info).toEqual({ title: "API", version: "0" });
  });

  it("OA has nothing of its own beside, and its members in order", () => {
    expect(Object.keys(described([add]))).toEqual(["openapi", "info", "paths", "components"]);
    expect(Object.keys(operation(add))).toEqual(
      "operationId summary tags parameters requestBody responses security".split(" "),
    );
  });

  it("OA is the same bytes for the same routes, in their order", () => {
    const routes = [plain, add, root({})];
    expect(JSON.stringify(Openapi.document(routes))).toBe(JSON.stringify(Openapi.document(routes)));
    expect(Object.keys(described(routes).paths)).toEqual(["/plain", "/orders/{order_id}/items", "/"]);
  });

  it("OA names operations by method and path", () => {
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

  it("OA keeps methods OpenAPI has no word for under additionalOperations", () => {
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

  it("OA-04 lists the path's parameters, then the others as they are read, the credential's left out", () => {
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

  it("OA-06 says a default as JSON has it", () => {
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
  it("OA-09 path parameters are required, and there without being read", () => {
    const id = Path.param("id", Codec.uuid);
    const unread = get(Path.of("a", id), { returns: Returns.text }, () => "");
    const parameter = { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } };
    expect(operation(unread).parameters).toEqual([parameter]);
    expect(
      operation(get(Path.of("a", id), { inputs: { id: param(id) }, returns: Returns.text }, () => "")).parameters,
    ).toEqual([parameter]);
  });

  it("OA lists what is read twice once, and required where one of them needs it", () => {
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

  it("OA lists what an application's own reader says it reads", () => {
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

  it("OA-39 has no word of resources and of what is no input", () => {
    const store = Dep.ofResource<number>("store");
    expect(operation(root({ store, now, requestId, setCookie }))).toEqual({ ...operation(root({})) });
    expect(JSON.stringify(described([root({ store })]))).not.toContain("store");
  });
});

describe("bodies: JSON and forms", () => {
  it("OA-10 JSON, by its component; OA-12 with examples", () => {
    const { requestBody } = operation(add);
    expect(requestBody).toEqual({
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Item" },
          examples: { 0: { value: { name: "pencil", size: "large", note: null } } },
        },
      },
    });
    expect(operation(add).responses["201"]?.content?.["application/json"]?.examples).toEqual({
      0: { value: { name: "pen", size: "small" } },
    });
  });

  it("OA an example that is none of its shape is refused", () => {
    const wrong = post(
      Path.of("a"),
      { inputs: { item: json(Item, { examples: [{ name: "pen", size: "huge" as "large" }] }) }, returns: Returns.text },
      () => "",
    );
    expect(() => Openapi.document([wrong])).toThrow(
      'Openapi: POST /a has an example body that its shape refuses: body.size: This must be one of "small" or "large".',
    );
    const answer = get(Path.of("b"), { returns: Returns.json(Item, { examples: [{} as never] }) }, () => ({}) as never);
    expect(() => Openapi.document([answer])).toThrow("GET /b has an example answer that its shape cannot write");
  });

  it("FM-19 a form, its fields in order", () => {
    const inputs = {
      email: Form.required("email", Codec.string),
      age: Form.optional("age", Codec.int),
      tags: Form.list("tag", Codec.string),
      remember: Form.checked("remember"),
    };
    const profile = post(Path.of("profile"), { inputs, returns: Returns.text }, () => "");
    const content = operation(profile).requestBody?.content ?? {};
    expect(Object.keys(content)).toEqual(["application/x-www-form-urlencoded", "multipart/form-data"]);
    for (const { schema } of Object.values(content)) {
      expect(Object.keys(schema["properties"] as object)).toEqual(["email", "age", "tag", "remember"]);
      expect(memberOf(schema, "age")).toEqual({ type: "integer" });
      expect(memberOf(schema, "tag")).toEqual({ type: "array", items: { type: "string" } });
      expect(schema["required"]).toEqual(["email"]);
    }
  });

  it("OA a form's fields are those it names, whatever objects have of their own", () => {
    const inputs = {
      a: Form.required("constructor", Codec.int),
      b: Form.required("__proto__", Codec.int),
      c: Form.File.required("toString"),
    };
    const form = post(Path.of("a"), { inputs, returns: Returns.text }, () => "");
    const { schema } = operation(form).requestBody?.content["multipart/form-data"] ?? { schema: {} };
    expect(Object.entries(schema["properties"] as object)).toEqual([
      ["constructor", { type: "integer" }],
      ["__proto__", { type: "integer" }],
      ["toString", { type: "string", description: "A file." }],
    ]);
  });
});

describe("bodies: encodings", () => {
  it("OA forms, in both encodings unless there are files", () => {
    const fields = { a: Form.required("a", Codec.int), b: Form.list("b", Codec.string), c: Form.checked("c") };
    const box = { type: "string", description: "Checked where it is sent, whatever it says." };
    const schema = {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "array", items: { type: "string" } }, c: box },
      required: ["a"],
    };
    const form = post(Path.of("a"), { inputs: fields, returns: Returns.text }, () => "");
    const described = { description: "A form: each field its value, a repeated one a list of them.", ...schema };
    expect(operation(form).requestBody?.content).toEqual({
      "application/x-www-form-urlencoded": { schema: described },
      "multipart/form-data": { schema: described },
    });

    const inputs = { ...fields, file: Form.File.required("file"), files: Form.File.list("files") };
    const upload = post(Path.of("a"), { inputs, returns: Returns.text }, () => "");
    const file = { type: "string", description: "A file." };
    expect(operation(upload).requestBody?.content).toEqual({
      "multipart/form-data": {
        schema: {
          type: "object",
          properties: { ...schema.properties, file, files: { type: "array", items: file } },
          required: ["a", "file"],
        },
        encoding: {
          file: { contentType: "application/octet-stream" },
          files: { contentType: "application/octet-stream" },
        },
      },
    });
  });
});

describe("bodies: other types", () => {
  const csv = Dep.ofBody({ contentTypes: ["text/csv"] }, (bytes) => bytes.length);
  it.each([
    ["a raw body", body, { "application/octet-stream": { schema: { type: "string" } } }],
    ["a stream", bodyStream({ max: 9 }), { "application/octet-stream": { schema: { type: "string" } } }],
    ["parts", multipart({ max: 9 }), { "multipart/form-data": { schema: { type: "object" } } }],
    [
      "a typed stream",
      bodyStream({ max: 9, contentTypes: ["image/*", "text/csv"] }),
      { "image/*": { schema: { type: "string" } }, "text/csv": { schema: { type: "string" } } },
    ],
    ["a parsed body", csv, { "text/csv": { schema: { type: "string" } } }],
  ])("OA-36 %s", (_name, dep, content) => {
    const upload = post(Path.of("a"), { inputs: { dep }, returns: Returns.text }, () => "");
    expect(operation(upload).requestBody).toEqual({ content });
  });

  it.each([
    ["JSON", { dep: json(Item) }, true],
    ["a form", { dep: Form.optional("a", Codec.string) }, true],
    ["parts", { dep: multipart({ max: 9 }) }, true],
    ["a typed stream", { dep: bodyStream({ max: 9, contentTypes: ["image/*"] }) }, true],
    ["a raw body", { dep: body }, false],
  ])("OA-37 %s: 415 where text/plain is answered so", async (_name, inputs, expected) => {
    const upload = post(Path.of("a"), { inputs, returns: Returns.text }, () => "");
    expect(statuses(upload).includes("415")).toBe(expected);
    const headers = { "content-type": "text/plain" };
    const { status } = await Test.call(Test.app([upload]), "POST", "/a", { headers, body: "x" });
    expect(status === 415).toBe(expected);
  });
});

describe("answers: statuses", () => {
  it("OA-30 JSON under several statuses", () => {
    const save = put(
      Path.of("a"),
      { returns: Returns.jsonResponse(Item, { 200: "The item was replaced.", 201: "The item was made." }) },
      () => ({ status: 200, value: { name: "pen", size: "small" as const } }) as const,
    );
    const { responses } = operation(save);
    expect([responses["200"]?.description, responses["201"]?.description]).toEqual([
      "The item was replaced.",
      "The item was made.",
    ]);
    for (const status of [200, 201])
      expect(jsonSchema(responses[status])).toEqual({ $ref: "#/components/schemas/Item" });
  });

  it("OA-31 nothing", () => {
    expect(operation(del(Path.of("a"), { returns: Returns.empty() }, () => {})).responses["204"]).toEqual({
      description: "No content.",
    });
    const several = put(
      Path.of("a"),
      { returns: Returns.emptyResponse({ 201: "Made.", 204: "Kept." }) },
      () => ({ status: 201, value: undefined }) as const,
    );
    expect(operation(several).responses).toMatchObject({
      201: { description: "Made." },
      204: { description: "Kept." },
    });
  });

  it.each([
    [Returns.html, "text/html"],
    [Returns.text, "text/plain"],
  ])("OA text of %#", (returns, type) => {
    expect(operation(get(Path.root, { returns }, () => "")).responses["200"]).toEqual({
      description: "The answer.",
      content: { [type]: { schema: { type: "string" } } },
    });
  });

  it("OA-33 one of the route's own", () => {
    const own = get(Path.root, { returns: Returns.response }, () => new Response());
    expect(operation(own).responses["default"]).toEqual({
      description: "A response of the route's own: a page, a redirect, a file, or nothing.",
    });
  });
});

describe("answers: of the route's own", () => {
  it("OA-33 one of the route's own, its statuses listed", () => {
    const returns = Returns.responses({
      200: { doc: "The report.", contentTypes: ["application/pdf", "application/problem+json"] },
      303: "Signed in.",
      403: { doc: "The page again.", contentTypes: ["text/html"] },
    });
    const signIn = post(Path.root, { returns }, () => new Response(null, { status: 303 }));
    const { responses } = operation(signIn);
    expect(Object.keys(responses)).toEqual(["200", "303", "403", "500", "503"]);
    expect(responses).toMatchObject({
      200: {
        description: "The report.",
        content: { "application/pdf": { schema: { type: "string" } }, "application/problem+json": { schema: {} } },
      },
      303: { description: "Signed in." },
      403: {
        description: "The page again. cross_origin: A browser sent a request that changes something from another site.",
        content: { "text/html": { schema: { type: "string" } }, "application/json": { schema: refusalRef } },
      },
    });
    expect(responses["303"]).not.toHaveProperty("content");
    expect(() => Returns.responses({ 200: { doc: "", contentTypes: ["html"] } })).toThrow('"html" is no content type');
  });

  it("OA where a redirect leads", () => {
    const returns = Returns.responses({
      200: "The page.",
      201: "Made.",
      304: "As you have it.",
      303: { doc: "To the orders.", contentTypes: ["text/html"] },
      503: "Closed.",
    });
    const location = { description: "Where to.", schema: { type: "string", format: "uri-reference" } };
    const moved = get(Path.root, { returns }, () => new Response(null, { status: 303 }));
    const { responses } = operation(moved);
    expect(responses["303"]).toEqual({
      description: "To the orders.",
      headers: { Location: location },
      content: { "text/html": { schema: { type: "string" } } },
    });
    expect(Object.keys(responses).filter((status) => "headers" in (responses[status] ?? {}))).toEqual(["303", "503"]);
    expect(responses["503"]?.headers).toHaveProperty("Retry-After");
  });
});

describe("answers: streams and sockets", () => {
  const tick = Event.json("tick", v.pipe(v.number(), v.integer()));
  const ticks = get(Path.of("ticks"), { returns: Returns.events([tick, Event.text("line")]) }, () => () => {});
  const itemSchema = {
    type: "object",
    required: ["event", "data"],
    properties: {
      event: { type: "string" },
      data: { type: "string" },
      id: { type: "string" },
      retry: { type: "integer", minimum: 0 },
    },
    oneOf: [
      {
        properties: {
          event: { const: "tick" },
          data: { contentMediaType: "application/json", contentSchema: { type: "integer" } },
        },
      },
      { properties: { event: { const: "line" } } },
    ],
  };

  it("OA-34 events, each kind", () => {
    expect(operation(ticks).responses["200"]).toEqual({
      description: "Server-Sent Events: tick, line.",
      content: { "text/event-stream": { itemSchema } },
    });
  });

  it("OA-34 events in 3.1, which has a schema for the whole alone", () => {
    const { openapi, paths } = described([ticks], { openapi: "3.1" });
    expect(openapi).toBe("3.1.0");
    expect(paths["/ticks"]?.["get"]).toMatchObject({
      responses: {
        200: {
          description: "Server-Sent Events: tick, line. Each event is as x-item-schema says.",
          content: { "text/event-stream": { schema: { type: "string" }, "x-item-schema": itemSchema } },
        },
      },
    });
  });

  it("OA-19 a WebSocket, with what each side sends", () => {
    const protocol = Socket.protocol({ client: Socket.json(Item), server: Socket.binary, subprotocol: "items" });
    const socket = get(Path.of("s"), { returns: Returns.websocket(protocol) }, () => async () => {});
    expect(statuses(socket)).toEqual(["101", "400", "403", "426", "500", "503"]);
    expect(operation(socket).responses["101"]).toEqual({
      description: "A WebSocket, speaking items. What each side sends is x-websocket's client and server.",
      "x-websocket": {
        subprotocol: "items",
        client: { $ref: "#/components/schemas/Item" },
        server: { type: "string", contentMediaType: "application/octet-stream" },
      },
    });
  });
});

describe("refusals: codes", () => {
  it("OA-13 a code with its meaning", () => {
    expect(operation(add).responses["410"]).toEqual({
      description: "gone: The order is closed.",
      content: { "application/json": { schema: refusalRef } },
    });
  });

  it("OA-15 one answer for each status, ascending", () => {
    expect(statuses(add)).toEqual(["201", "400", "403", "410", "413", "415", "500", "503"]);
  });

  it("OA-16 of a GET that reads nothing", () => {
    expect(statuses(plain)).toEqual(["200", "500", "503"]);
  });

  it("OA-18 of a POST that reads JSON", () => {
    const { responses } = operation(
      post(Path.of("a"), { inputs: { item: json(Item) }, returns: Returns.text }, () => ""),
    );
    expect(Object.keys(responses)).toEqual(["200", "400", "403", "413", "415", "500", "503"]);
    expect(responses["400"]?.description).toBe(
      "invalid: Inputs are not what the route reads; each problem says where. " +
        "unreadable: The body could not be read as sent: cut short, malformed, or too slow to arrive.",
    );
  });

  it.each([
    ["a path parameter", get(Path.of("a", Path.int("id")), { returns: Returns.text }, () => ""), true],
    ["a header", root({ a: Header.optional("a", Codec.string) }), true],
    ["a credential", root({ a: Dep.credential("a", Header.optional("a", Codec.string)) }), true],
    ["what cannot be told", root({ request }), true],
    ["nothing", root({ now }), false],
  ])("OA invalid where an input is read: %s", (_name, route, expected) => {
    expect(statuses(route).includes("400")).toBe(expected);
  });

  it("OA the route's own codes come first, then its inputs', each once", () => {
    const full = Refusal.code("full", { status: 503, doc: "It is full." });
    const late = Refusal.code("late", { status: 503, doc: "It is late." });
    const dep = Dep.join({}, () => 1, { refuses: [late, full] });
    const own = get(Path.root, { inputs: { dep }, returns: Returns.text, refuses: [full] }, () => "");
    expect(operation(own).responses["503"]?.description).toBe(
      "full: It is full. late: It is late. " +
        "busy: Something the request needed did not come free in time; try again.",
    );
  });
});

describe("refusals: of the framework", () => {
  it("HL-10 the health routes, both of them", () => {
    const { paths } = described(Health.routes([]));
    expect(Object.keys(paths)).toEqual(["/livez", "/readyz"]);
    const [, ready] = Health.routes([]);
    expect(operation(ready as Route).responses["503"]?.description).toBe(
      "not_ready: Something the server needs to serve did not answer. " +
        "busy: Something the request needed did not come free in time; try again.",
    );
  });

  it.each([
    ["not_found", 404, "Nothing is here."],
    ["method_not_allowed", 405, "The path is answered, but not by this method; Allow lists those."],
    ["too_large", 413, "The body is longer than the server takes."],
    ["busy", 503, "Something the request needed did not come free in time; try again."],
    ["unsupported_media_type", 415, "The body is sent as something the route does not read."],
    ["cross_origin", 403, "A browser sent a request that changes something from another site."],
    ["not_implemented", 501, "The method is not one this server implements."],
    [
      "upgrade_required",
      426,
      "The address is a WebSocket, answered only to a request that opens one; Upgrade says which.",
    ],
    ["internal", 500, "The server's fault."],
    ["rate_limited", 429, "The caller asked more often than the route allows; Retry-After says when to ask again."],
    ["not_ready", 503, "Something the server needs to serve did not answer."],
    ["unreadable", 400, "The body could not be read as sent: cut short, malformed, or too slow to arrive."],
    ["invalid", 400, "Inputs are not what the route reads; each problem says where."],
  ])("OA-21 the framework's own %s, as a route that declares it says", (name, status, meaning) => {
    const own = Object.values(refusals).filter(
      (one) => typeof one === "object" && "name" in one && one.name === name,
    ) as Code[];
    const refusing = get(Path.root, { returns: Returns.text, refuses: own }, () => "");
    expect(operation(refusing).responses[status]?.description).toMatch(`${name}: ${meaning}`);
  });

  it("OA-21 what Rate.limit and a body of another type refuse with, declared by them alone", () => {
    const slowly = Rate.limit(Rate.create({ limit: 1, perMs: 1000 }), { key: client });
    const limited = post(Path.of("a"), { inputs: { slowly, item: json(Item) }, returns: Returns.text }, () => "");
    const { responses } = operation(limited);
    expect([responses["429"]?.description, responses["415"]?.description]).toEqual([
      "rate_limited: The caller asked more often than the route allows; Retry-After says when to ask again.",
      "unsupported_media_type: The body is sent as something the route does not read.",
    ]);
  });
});

describe("refusals: headers and schemas", () => {
  it("OA what a refusal says in its headers: how to prove who asks, when to come again, what to speak", () => {
    const barred = Refusal.code("barred", { status: 401, doc: "Not you.", challenge: 'Basic realm="a"' });
    const slowly = Rate.limit(Rate.create({ limit: 1, perMs: 1000 }), { key: client });
    const limited = post(Path.of("a"), { inputs: { slowly }, returns: Returns.text, refuses: [signedOut] }, () => "");
    const { responses } = operation(limited);
    expect(responses["401"]?.headers).toEqual({
      "WWW-Authenticate": {
        description: "How to prove who asks.",
        required: true,
        schema: { type: "string", enum: ["Bearer"] },
      },
    });
    const comeAgain = { description: "After how many seconds to ask again.", schema: { type: "integer", minimum: 0 } };
    expect(responses["429"]?.headers).toEqual({ "Retry-After": comeAgain });
    expect(responses["503"]?.headers).toEqual({ "Retry-After": comeAgain });
    const withHeaders = Object.entries(responses).filter(([, one]) => one.headers !== undefined);
    expect(withHeaders.map(([status]) => status)).toEqual(["401", "429", "503"]);
    const either = get(Path.root, { returns: Returns.text, refuses: [signedOut, barred] }, () => "");
    expect(operation(either).responses["401"]?.headers).toMatchObject({
      "WWW-Authenticate": { schema: { enum: ["Bearer", 'Basic realm="a"'] } },
    });
    const socket = get(
      Path.root,
      { returns: Returns.websocket(Socket.protocol({ client: Socket.text, server: Socket.text })) },
      () => async () => {},
    );
    expect(operation(socket).responses["426"]?.headers).toEqual({
      Upgrade: { description: "What to speak.", required: true, schema: { type: "string", enum: ["websocket"] } },
    });
  });

  it("OA a body's own code is the route's", () => {
    const wrong = Refusal.code("wrong", { status: 422, doc: "No item." });
    const own = post(
      Path.of("a"),
      { inputs: { item: json(Item, { refusal: [wrong, "No."] }) }, returns: Returns.text },
      () => "",
    );
    expect(operation(own).responses["422"]?.description).toBe("wrong: No item.");
  });

  it("OA-22 are one component", () => {
    const { schemas } = described([plain]).components;
    expect(Object.keys(schemas)).toEqual(["Problem", "Refusal"]);
    expect(JSON.stringify(schemas["Refusal"])).toBe(
      '{"description":"A refusal: the code a client branches on, and a sentence for a person.","type":"object","properties":{"error":{"type":"string","description":"The code."},"message":{"type":"string","description":"A sentence."},"problems":{"type":"array","items":{"$ref":"#/components/schemas/Problem"},"description":"For invalid: each input that is not what it should be."}},"required":["error","message"]}',
    );
  });
});

describe("credentials", () => {
  const bearer = Dep.credential("bearer", Header.optional("authorization", Codec.credentials));
  const key = Dep.credential("key", Query.required("key", Codec.string));

  it("OA-25 in a cookie", () => {
    expect(described([add]).components.securitySchemes).toEqual({
      session: { type: "apiKey", in: "cookie", name: "session", description: "Who is signed in." },
    });
  });

  it("OA by any name that OpenAPI has", () => {
    const odd = Dep.credential("constructor", Header.optional("x-own", Codec.string));
    expect(Object.entries(described([root({ odd })]).components.securitySchemes ?? {})).toEqual([
      ["constructor", { type: "apiKey", in: "header", name: "x-own" }],
    ]);
  });

  it("OA-27 in authorization", () => {
    expect(described([root({ bearer })]).components.securitySchemes).toEqual({
      bearer: { type: "http", scheme: "bearer" },
    });
  });

  it("OA in a query, and from an application's own reader", () => {
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

  it("OA-28 are needed where the route may refuse 401, or one must be sent", () => {
    const refusing = get(Path.root, { inputs: { bearer }, returns: Returns.text, refuses: [signedOut] }, () => "");
    expect(operation(refusing).security).toEqual([{ bearer: [] }]);
    expect(operation(root({ bearer })).security).toEqual([{ bearer: [] }, {}]);
    expect(operation(root({ key })).security).toEqual([{ key: [] }]);
    expect(operation(root({ bearer, again: bearer, key })).security).toEqual([{ bearer: [] }, { key: [] }]);
    expect(operation(plain)).not.toHaveProperty("security");
  });

  it("OA what a credential reads is listed where something else reads it too", () => {
    const cookie = Cookie.optional(Cookie.named("c", Codec.string));
    const both = root({ who: Dep.credential("c", cookie), cookie });
    expect(operation(both).parameters?.map(({ name }) => name)).toEqual(["c"]);
  });

  it("OA one scheme is one thing, with a name OpenAPI has", () => {
    const other = Dep.credential("bearer", Header.optional("x-bearer", Codec.string));
    const routes = [root({ bearer }), get(Path.of("a"), { inputs: { other }, returns: Returns.text }, () => "")];
    expect(() => Openapi.document(routes)).toThrow("the credential bearer of GET /a differs from an earlier one");
    const odd = root({ odd: Dep.credential("an id", Header.optional("a", Codec.string)) });
    expect(() => Openapi.document([odd])).toThrow(
      'GET / has the credential "an id", which is not a valid name in OpenAPI',
    );
  });
});

const text = (path: Path<unknown>, returns = Returns.text as never): Route => get(path, { returns }, () => "" as never);
const int = Path.of("items", Path.int("id", { unparsed: "next-route" }));
const str = Path.of("items", Path.str("id"));

describe("routes that clash: operations", () => {
  it("OA-44 two paths of one operation's name", () => {
    expect(() => Openapi.document([text(Path.of("a-b")), text(Path.of("a_b"))])).toThrow(
      "Openapi: GET /a-b and GET /a_b are both the operation get_a_b",
    );
  });

  it("OA-52 routes that differ only by a parameter's type are one operation", () => {
    const { paths } = described([
      get(
        int,
        {
          summary: "One",
          inputs: { q: Query.required("q", Codec.int) },
          returns: Returns.text,
          refuses: [Refusal.notFound],
        },
        () => "",
      ),
      text(str),
    ]);
    expect(paths).toMatchObject({
      "/items/{id}": {
        get: {
          operationId: "get_items_id",
          summary: "One",
          parameters: [
            { name: "id", in: "path", required: true, schema: { anyOf: [{ type: "integer" }, { type: "string" }] } },
            { name: "q", in: "query", required: false },
          ],
          responses: { 404: {} },
        },
      },
    });
  });

  it.each([
    [
      "another name",
      text(Path.of("items", Path.str("name"))),
      "GET /items/{id} and GET /items/{name} differ only by a parameter's type, so they are one operation: give the parameter one name",
    ],
    [
      "another answer",
      text(str, Returns.html as never),
      "GET /items/{id} and GET /items/{id} differ only by a parameter's type, so they are one operation: they must have the same answers",
    ],
    [
      "another body",
      get(str, { inputs: { body }, returns: Returns.text }, () => ""),
      "GET /items/{id} and GET /items/{id} differ only by a parameter's type, so they are one operation: they must read the same body",
    ],
  ])("OA-52 and refused with %s", (_name, other, message) => {
    expect(() => Openapi.document([text(int), other])).toThrow(`Openapi: ${message}`);
  });
});

describe("routes that clash: paths and shapes", () => {
  it("OA one path gives its parameter one name, whatever the method", () => {
    const remove = del(Path.of("items", Path.int("item_id")), { returns: Returns.empty() }, () => {});
    expect(() => Openapi.document([text(str), remove])).toThrow(
      "GET /items/{id} and DELETE /items/{item_id} have the same path: give its parameter one name",
    );
  });

  it("OA every clash is told at once", () => {
    expect(() => Openapi.document([plain, plain, text(Path.of("a-b")), text(Path.of("a_b"))])).toThrow(
      "Openapi:\n- GET /plain and GET /plain are both the operation get_plain\n- GET /a-b and GET /a_b are both the operation get_a_b",
    );
  });

  it("OA shapes of one name are one shape", () => {
    const make = (inner: v.GenericSchema) => Shape.named("thing", v.object({ inner }));
    const of = (name: string, shape: Shape) => get(Path.of(name), { returns: Returns.json(shape) }, () => ({}));
    expect(Object.keys(described([of("a", make(v.string())), of("b", make(v.string()))]).components.schemas)).toEqual([
      "Problem",
      "Refusal",
      "Thing",
    ]);
    expect(() => Openapi.document([of("a", make(v.string())), of("b", make(v.number()))])).toThrow(
      "Openapi: two different shapes are named Thing",
    );
    expect(() => Openapi.document([of("a", Shape.named("Problem", v.object({ a: v.string() })))])).toThrow(
      "two different shapes are named Problem",
    );
  });
});

describe("what is told loosely", () => {
  it("OA-51 inputs that are found only while the request runs", () => {
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

  it("OA-49 a bound past 2^53 is left out", () => {
    const shape = v.pipe(Shape.int64, v.minValue(1n), v.maxValue(2n ** 60n));
    const route = get(Path.of("n"), { returns: Returns.json(shape) }, () => 1n);
    expect(jsonSchema(operation(route).responses["200"])).toEqual({
      type: "integer",
      format: "int64",
      minimum: 1,
    });
    expect(Openapi.report([route])).toEqual(["GET /n: answer has a bound that JSON Schema cannot write"]);
  });

  it("OA any JSON, recursion without a name, and patterns, each where it stands", () => {
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

  it("OA a shape that makes itself anew is told some levels deep", () => {
    const tree = (): v.GenericSchema => v.object({ left: v.lazy(() => tree()), right: v.lazy(() => tree()) });
    const route = get(Path.of("a"), { returns: Returns.json(tree()) }, () => ({}));
    const loose = Openapi.report([route]);
    expect(loose).toHaveLength(64);
    expect(loose[0]).toMatch(/^GET \/a: answer(\.left){6} refers to itself and has no name/);
  });

  it("OA nothing of a route that is told in full", () => {
    expect(Openapi.report([add, plain])).toEqual([]);
  });
});
