/** Bodies and answers in the API document (contract 4.3, 4.5; rows OA). */
import { describe, expect, it } from "vitest";
import {
  Codec,
  Dep,
  Event,
  Form,
  Openapi,
  Path,
  Query,
  Refusal,
  Returns,
  Socket,
  Test,
  body,
  bodyStream,
  del,
  get,
  json,
  multipart,
  post,
  put,
} from "usher-http";
import type { Route } from "usher-http";
import * as v from "valibot";
import "../support/logs.ts";
import { Item, add } from "./add.ts";
import { described, jsonSchema, memberOf, operation } from "./described.ts";

const refusalRef = { $ref: "#/components/schemas/Refusal" };

function statuses(route: Route): readonly string[] {
  return Object.keys(operation(route).responses);
}

describe("bodies: JSON and forms", () => {
  it("OA-10 JSON refers to its component; OA-12 with examples", () => {
    const { requestBody } = operation(add);
    expect(requestBody).toEqual({
      required: true,
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

  it("OA an example that does not fit its shape is refused", () => {
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

  it("FM-19 a form has its fields in order", () => {
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

  it("OA a form has only declared fields, and no members of Object.prototype", () => {
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
      ["toString", { type: "string", contentMediaType: "application/octet-stream", description: "A file." }],
    ]);
  });
});

describe("bodies: encodings", () => {
  it("OA forms have both encodings unless there are files", () => {
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
    const file = { type: "string", contentMediaType: "application/octet-stream", description: "A file." };
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

describe("bodies: parts that are described by their fields", () => {
  const sent = (inputs: { upload: ReturnType<typeof multipart> }) =>
    operation(post(Path.of("a"), { inputs, returns: Returns.text }, () => "")).requestBody;
  const title = Form.optional("title", Codec.string, { doc: "Of the film." });

  it("is the same as a form of these fields with files, and always sent", () => {
    const inputs = { title, film: Form.File.required("film"), stills: Form.File.list("stills") };
    const form = operation(post(Path.of("a"), { inputs, returns: Returns.text }, () => "")).requestBody;
    expect(sent({ upload: multipart({ max: 9, fields: Object.values(inputs) }) })).toEqual(form);
    expect(form?.content["multipart/form-data"]?.schema).toMatchObject({ required: ["film"] });
  });

  it("has one encoding without files, too", () => {
    const schema = { type: "object", properties: { title: { type: "string", description: "Of the film." } } };
    expect(sent({ upload: multipart({ max: 9, fields: [title] }) })).toEqual({
      content: { "multipart/form-data": { schema } },
      required: true,
    });
  });

  it("tells what is wrong with a field, as a form does", () => {
    const upload = multipart({ max: 9, fields: [Form.File.list("f", { minItems: 2, maxItems: 1 })] });
    const route = post(Path.of("a"), { inputs: { upload }, returns: Returns.text }, () => "");
    const asForm = post(
      Path.of("a"),
      { inputs: { f: Form.File.list("f", { minItems: 2, maxItems: 1 }) }, returns: Returns.text },
      () => "",
    );
    const told = (route: Route) => {
      try {
        Test.app([route]);
      } catch (thrown) {
        return (thrown as Error).message;
      }
      return "nothing";
    };
    expect(told(route)).toContain("form.f");
    expect(told(route)).toBe(told(asForm));
  });

  it.each([
    ["no list", title],
    ["an input of a query", [Query.optional("title", Codec.string)]],
    ["a name", ["title"]],
  ])("refuses %s", (_name, fields) => {
    expect(() => multipart({ max: 9, fields: fields as never })).toThrow("multipart: fields");
  });
});

describe("bodies: other types", () => {
  const csv = Dep.ofBody({ contentTypes: ["text/csv"] }, (bytes) => bytes.length);
  const binary = { schema: { type: "string", contentMediaType: "application/octet-stream" } };
  const text = { schema: { type: "string" } };
  it.each([
    ["a raw body", body, { "application/octet-stream": binary }, {}],
    ["a stream", bodyStream({ max: 9 }), { "application/octet-stream": binary }, {}],
    ["parts", multipart({ max: 9 }), { "multipart/form-data": { schema: { type: "object" } } }, { required: true }],
    [
      "a typed stream",
      bodyStream({ max: 9, contentTypes: ["image/*", "text/csv"] }),
      { "image/*": binary, "text/csv": text },
      { required: true },
    ],
    ["a parsed body", csv, { "text/csv": text }, { required: true }],
  ])("OA-36 %s", (_name, dep, content, required) => {
    const upload = post(Path.of("a"), { inputs: { dep }, returns: Returns.text }, () => "");
    expect(operation(upload).requestBody).toEqual({ content, ...required });
  });

  const thrown = v.pipe(
    v.object({}),
    v.check(() => {
      throw new Error("never");
    }),
  );
  it.each([
    ["JSON", { dep: json(Item) }, 400],
    ["JSON whose members may all be missing", { dep: json(v.object({ a: v.optional(v.string(), "x") })) }, 200],
    ["JSON whose check throws", { dep: json(thrown) }, 500],
    ["a form with a field that must be sent", { dep: Form.required("a", Codec.string) }, 400],
    ["a form whose fields may be missing", { dep: Form.optional("a", Codec.string) }, 200],
    ["a raw body", { dep: body }, 200],
    ["parts", { dep: multipart({ max: 9 }) }, 415],
    ["a parsed body", { dep: csv }, 415],
  ])("OA `required` says whether a request without a body is accepted: %s", async (_name, inputs, status) => {
    const reading = post(Path.of("a"), { inputs, returns: Returns.text }, () => "");
    expect((await Test.call(Test.app([reading]), "POST", "/a")).status).toBe(status);
    expect(operation(reading).requestBody?.required ?? false).toBe(status !== 200);
  });

  it.each([
    ["JSON", { dep: json(Item) }, true],
    ["a form", { dep: Form.optional("a", Codec.string) }, true],
    ["parts", { dep: multipart({ max: 9 }) }, true],
    ["a typed stream", { dep: bodyStream({ max: 9, contentTypes: ["image/*"] }) }, true],
    ["a raw body", { dep: body }, false],
  ])("OA-37 %s: 415 if text/plain is answered with it", async (_name, inputs, expected) => {
    const upload = post(Path.of("a"), { inputs, returns: Returns.text }, () => "");
    expect(statuses(upload).includes("415")).toBe(expected);
    const headers = { "content-type": "text/plain" };
    const { status } = await Test.call(Test.app([upload]), "POST", "/a", { headers, body: "x" });
    expect(status === 415).toBe(expected);
  });
});

describe("answers: statuses", () => {
  it("OA-30 JSON with several statuses", () => {
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

  it("OA-31 no body", () => {
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
      description: "OK.",
      content: { [type]: { schema: { type: "string" } } },
    });
  });

  it("OA-33 a response of the route's own", () => {
    const own = get(Path.root, { returns: Returns.response }, () => new Response());
    expect(operation(own).responses["default"]).toEqual({
      description: "A response of the route's own: a page, a redirect, a file, or nothing.",
    });
  });
});

describe("answers: of the route's own", () => {
  it("OA-33 its statuses, if they are declared", () => {
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
        description:
          "The page again.  \ncross_origin: A browser sent a request that changes something from another site.",
        content: { "text/html": { schema: { type: "string" } }, "application/json": { schema: refusalRef } },
      },
    });
    expect(responses["303"]).not.toHaveProperty("content");
    expect(() => Returns.responses({ 200: { doc: "", contentTypes: ["html"] } })).toThrow('"html" is no content type');
    expect(() => Returns.responses({ 200: { doc: "", contentTypes: ["*/html"] } })).toThrow('"*/html" is no content');
  });

  it("the content type of a file that a user chose is any", () => {
    const returns = Returns.responses({ 200: { doc: "The file.", contentTypes: ["*/*"] } });
    const { responses } = operation(get(Path.of("file"), { returns }, () => new Response("x")));
    expect(responses["200"]).toMatchObject({ description: "The file.", content: { "*/*": { schema: {} } } });
  });

  it("a content type of both the route's answer and a refusal with that status has either schema", () => {
    const returns = Returns.responses({ 404: { doc: "None.", contentTypes: ["application/json", "text/html"] } });
    const show = get(Path.root, { returns, refuses: [Refusal.notFound] }, () => new Response(null, { status: 404 }));
    expect(operation(show).responses["404"]?.content).toEqual({
      "application/json": { schema: { anyOf: [refusalRef, {}] } },
      "text/html": { schema: { type: "string" } },
    });
  });

  it("OA a redirect has Location", () => {
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

describe("answers: streams and WebSockets", () => {
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

  it("OA-34 events in 3.1, which has only a schema for the whole", () => {
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

  it("OA-19 a WebSocket, with the messages of both sides", () => {
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
    const several = Socket.protocol({ ...protocol, subprotocol: ["items.v2", "items", undefined] });
    const other = get(Path.of("s"), { returns: Returns.websocket(several) }, () => async () => {});
    expect(operation(other).responses["101"]).toMatchObject({
      description: expect.stringContaining("speaking items.v2 or items."),
      "x-websocket": { subprotocol: ["items.v2", "items"] },
    });
  });
});
