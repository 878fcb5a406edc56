/** Refusals in the API document, and routes that cannot be in one (contract 7.2; rows OA). */
import { describe, expect, it } from "vitest";
import {
  Codec,
  Dep,
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
  body,
  client,
  del,
  get,
  json,
  now,
  post,
  request,
} from "usher-http";
import type { Route } from "usher-http";
import * as v from "valibot";
import * as refusals from "../../src/refusals.ts";
import type { Code } from "../../src/refusals.ts";
import "../support/logs.ts";
import { Item, add } from "./add.ts";
import { plain, root, signedOut } from "./small-routes.ts";
import { described, onlyOperation, operation } from "./described.ts";

const refusalRef = { $ref: "#/components/schemas/Refusal" };

function statuses(route: Route): readonly string[] {
  return Object.keys(operation(route).responses);
}

describe("refusals: codes", () => {
  it("OA-13 a code has its meaning", () => {
    expect(operation(add).responses["410"]).toEqual({
      description: "gone: The order is closed.",
      content: { "application/json": { schema: refusalRef } },
    });
  });

  it("OA-15 one answer for each status, in ascending order", () => {
    expect(statuses(add)).toEqual(["201", "400", "403", "410", "413", "415", "500", "503"]);
  });

  it("OA-16 those of a GET that reads nothing", () => {
    expect(statuses(plain)).toEqual(["200", "500", "503"]);
  });

  it("OA-18 those of a POST that reads JSON", () => {
    const { responses } = operation(
      post(Path.of("a"), { inputs: { item: json(Item) }, returns: Returns.text }, () => ""),
    );
    expect(Object.keys(responses)).toEqual(["200", "400", "403", "413", "415", "500", "503"]);
    expect(responses["400"]?.description).toBe(
      "invalid: Inputs are not what the route reads; each problem says where.  \n" +
        "unreadable: The body could not be read as sent: cut short, malformed, or too slow to arrive.",
    );
  });

  it.each([
    ["a path parameter", get(Path.of("a", Path.int("id")), { returns: Returns.text }, () => ""), true],
    ["a header", root({ a: Header.optional("a", Codec.string) }), true],
    ["a credential", root({ a: Dep.credential("a", Header.optional("a", Codec.string)) }), true],
    ["what cannot be told", root({ request }), true],
    ["nothing", root({ now }), false],
  ])("OA `invalid` if an input is read: %s", (_name, route, expected) => {
    expect(statuses(route).includes("400")).toBe(expected);
  });

  it("OA the route's own codes come first, then its inputs', each once", () => {
    const full = Refusal.code("full", { status: 503, doc: "It is full." });
    const late = Refusal.code("late", { status: 503, doc: "It is late." });
    const dep = Dep.join({}, () => 1, { refuses: [late, full] });
    const own = get(Path.root, { inputs: { dep }, returns: Returns.text, refuses: [full] }, () => "");
    expect(operation(own).responses["503"]?.description).toBe(
      "full: It is full.  \nlate: It is late.  \n" +
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
      "not_ready: Something the server needs to serve did not answer.  \n" +
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
  ])("OA-21 the framework's own %s, as described for a route that declares it", (name, status, meaning) => {
    const own = Object.values(refusals).filter(
      (one) => typeof one === "object" && "name" in one && one.name === name,
    ) as Code[];
    const refusing = get(Path.root, { returns: Returns.text, refuses: own }, () => "");
    expect(operation(refusing).responses[status]?.description).toMatch(`${name}: ${meaning}`);
  });

  it("OA-21 the codes of Rate.limit and of a wrong content type, where they are declared", () => {
    const slowly = Rate.limit(Rate.make({ limit: 1, perMs: 1000 }), { key: client });
    const limited = post(Path.of("a"), { inputs: { slowly, item: json(Item) }, returns: Returns.text }, () => "");
    const { responses } = operation(limited);
    expect([responses["429"]?.description, responses["415"]?.description]).toEqual([
      "rate_limited: The caller asked more often than the route allows; Retry-After says when to ask again.",
      "unsupported_media_type: The body is sent as something the route does not read.",
    ]);
  });
});

describe("refusals: headers and schemas", () => {
  it("OA has the headers of a refusal: WWW-Authenticate, Retry-After, Upgrade", () => {
    const barred = Refusal.code("barred", { status: 401, doc: "Not you.", challenge: 'Basic realm="a"' });
    const slowly = Rate.limit(Rate.make({ limit: 1, perMs: 1000 }), { key: client });
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

  it("OA the route's own code for an invalid body", () => {
    const wrong = Refusal.code("wrong", { status: 422, doc: "No item." });
    const own = post(
      Path.of("a"),
      { inputs: { item: json(Item, { refusal: [wrong, "No."] }) }, returns: Returns.text },
      () => "",
    );
    expect(operation(own).responses["422"]?.description).toBe("wrong: No item.");
  });

  it("OA-22 the schemas are one component", () => {
    const { schemas } = described([plain]).components;
    expect(Object.keys(schemas)).toEqual(["Problem", "Refusal"]);
    expect(JSON.stringify(schemas["Refusal"])).toBe(
      '{"description":"A refusal: the code a client branches on, and a sentence for a person.","type":"object","properties":{"error":{"type":"string","description":"The code."},"message":{"type":"string","description":"A sentence."},"problems":{"type":"array","items":{"$ref":"#/components/schemas/Problem"},"description":"For invalid: each input that is not what it should be."}},"required":["error","message"]}',
    );
  });
});

const textOn = (path: Path, returns = Returns.text as never): Route => get(path, { returns }, () => "" as never);
const byNumber = Path.of("items", Path.int("id", { unparsed: "next-route" }));
const byText = Path.of("items", Path.str("id"));

describe("routes that clash: operations", () => {
  it("OA-44 two paths with one operation id are refused", () => {
    expect(() => Openapi.document([textOn(Path.of("a-b")), textOn(Path.of("a_b"))])).toThrow(
      "Openapi: GET /a-b and GET /a_b are both the operation get_a_b",
    );
  });

  it("OA-52 routes that differ only in the type of a parameter are one operation", () => {
    const { paths } = described([
      get(
        byNumber,
        {
          summary: "One",
          inputs: { q: Query.required("q", Codec.int) },
          returns: Returns.text,
          refuses: [Refusal.notFound],
        },
        () => "",
      ),
      textOn(byText),
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

  it("OA-52 also with a parameter that has several rules, which stay together", () => {
    const address = Path.param("id", v.pipe(v.string(), v.ip()), { unparsed: "next-route" });
    const word = Path.param("id", v.literal("all"), { unparsed: "next-route" });
    const routes = [address, word, Path.int("id")].map((id) => textOn(Path.of("items", id)));
    const { parameters } = onlyOperation(described(routes));
    const ip = { type: "string", anyOf: [{ format: "ipv4" }, { format: "ipv6" }] };
    expect(parameters).toMatchObject([{ schema: { anyOf: [ip, { const: "all" }, { type: "integer" }] } }]);
  });

  it("OA-52 also in the other order, which is the same for a request", () => {
    const { paths } = described([textOn(byText), textOn(byNumber)]);
    expect(paths).toMatchObject({
      "/items/{id}": {
        get: {
          operationId: "get_items_id",
          parameters: [
            { name: "id", in: "path", required: true, schema: { anyOf: [{ type: "string" }, { type: "integer" }] } },
          ],
        },
      },
    });
  });

  it.each([
    [
      "another name",
      textOn(Path.of("items", Path.str("name"))),
      "GET /items/{id} and GET /items/{name} differ only by a parameter's type, so they are one operation: give the parameter one name",
    ],
    [
      "another answer",
      textOn(byText, Returns.html as never),
      "GET /items/{id} and GET /items/{id} differ only by a parameter's type, so they are one operation: they must have the same answers",
    ],
    [
      "another body",
      get(byText, { inputs: { body }, returns: Returns.text }, () => ""),
      "GET /items/{id} and GET /items/{id} differ only by a parameter's type, so they are one operation: they must read the same body",
    ],
  ])("OA-52 and are refused with %s", (_name, other, message) => {
    expect(() => Openapi.document([textOn(byNumber), other])).toThrow(`Openapi: ${message}`);
  });
});

describe("routes that clash: paths and shapes", () => {
  it("OA one path has one name for its parameter, in all methods", () => {
    const remove = del(Path.of("items", Path.int("item_id")), { returns: Returns.empty() }, () => {});
    expect(() => Openapi.document([textOn(byText), remove])).toThrow(
      "GET /items/{id} and DELETE /items/{item_id} have the same path: give its parameter one name",
    );
  });

  it("OA every clash is reported at once", () => {
    expect(() => Openapi.document([plain, plain, textOn(Path.of("a-b")), textOn(Path.of("a_b"))])).toThrow(
      "Openapi:\n- GET /plain and GET /plain are both the operation get_plain\n- GET /a-b and GET /a_b are both the operation get_a_b",
    );
  });

  it("OA two shapes with one name are refused unless they are the same", () => {
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

  it("OA two names that are one in the document are in the error as their author gave them", () => {
    const made = (name: string, inner: v.GenericSchema) => {
      const shape = Shape.named(name, v.object({ inner }));
      return get(Path.of(name), { returns: Returns.json(shape) }, () => ({ inner: "" }) as never);
    };
    expect(() => Openapi.document([made("注文", v.string()), made("明細", v.number())])).toThrow(
      "Openapi: the shapes named 注文 and 明細 are both the component Shape, whose name has ASCII letters and digits alone",
    );
    expect(() => Openapi.document([made("order line", v.string()), made("Order-line", v.number())])).toThrow(
      "the shapes named order line and Order-line are both the component OrderLine",
    );
  });
});
