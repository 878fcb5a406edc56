/** What the API document, the page and `usher routes` say of a mount: what its `doc` does. */
import { describe, expect, it } from "vitest";
import { App, Codec, Header, Meta, Openapi, Path, Refusal, Returns, Route, get, param } from "usher-http";
import { routes as routesCommand } from "../../cli/routes.ts";
import { wrongWith } from "../openapi/official.ts";

const handler = () => new Response("");
const ok = { 200: { description: "Done." } };
const json = { "application/json": { schema: { type: "object" } } };

const tenant = Path.int("tenant");
const denied = Refusal.code("denied", { status: 403, doc: "Not yours." });
const users = Route.mount(Path.of("t", tenant, "users"), handler, {
  inputs: { tenant: param(tenant), key: Header.required("x-key", Codec.string) },
  refuses: [denied],
  doc: {
    GET: { summary: "Lists users.", tags: ["users"], responses: { 200: { description: "The users.", content: json } } },
    "POST /{id}/lock": {
      description: "Locks one.",
      requestBody: { content: json, required: true },
      responses: { 204: { description: "Locked." }, "4XX": { description: "Not locked." } },
    },
    "PROPFIND /a b": { responses: { default: { description: "What is there." } } },
  },
});

type Operation = { readonly [member: string]: unknown };
const paths = (given: readonly Route[], options: Openapi.DocumentOptions = {}) =>
  Openapi.document(given, options).paths as { readonly [path: string]: { readonly [method: string]: Operation } };

describe("the document of a mount", () => {
  it("has nothing of a mount without doc", () => {
    expect(paths([Route.mount(Path.of("auth"), handler)])).toEqual({});
  });

  it.each(["3.2", "3.1"] as const)("has each operation, as valid OpenAPI %s", async (openapi) => {
    const document = Openapi.document([users], { openapi });
    expect(await wrongWith(document)).toEqual([]);
    const found = paths([users], { openapi });
    expect(Object.keys(found)).toEqual(["/t/{tenant}/users", "/t/{tenant}/users/{id}/lock", "/t/{tenant}/users/a%20b"]);
    const other = found["/t/{tenant}/users/a%20b"] as { readonly [member: string]: Operation };
    const additional = other[openapi === "3.2" ? "additionalOperations" : "x-additionalOperations"];
    expect(Object.keys(additional as object)).toEqual(["PROPFIND"]);
  });

  it("says what is given, and what the mount's inputs read and refuse", () => {
    const found = paths([users]);
    const list = found["/t/{tenant}/users"]?.["get"] as Operation;
    expect(list).toMatchObject({ summary: "Lists users.", tags: ["users"], operationId: "get_t_tenant_users" });
    expect(list).not.toHaveProperty("requestBody");
    expect(list["parameters"]).toMatchObject([
      { in: "path", name: "tenant", schema: { type: "integer" } },
      { in: "header", name: "x-key", required: true },
    ]);
    const responses = list["responses"] as { readonly [status: string]: { readonly description: string } };
    expect(responses["200"]).toEqual({ description: "The users.", content: json });
    expect(responses["403"]?.description).toContain("denied: Not yours.");
    expect(responses["400"]?.description).toContain("invalid");
    expect(responses).not.toHaveProperty("413");
    const lock = found["/t/{tenant}/users/{id}/lock"]?.["post"] as Operation;
    expect(lock).toMatchObject({ description: "Locks one.", requestBody: { content: json, required: true } });
    expect((lock["parameters"] as readonly Operation[]).map(({ name }) => name)).toEqual(["tenant", "id", "x-key"]);
    expect(Object.keys(lock["responses"] as object)).toEqual(expect.arrayContaining(["204", "4XX", "413", "403"]));
  });

  it("follows a group: its prefix, its tags and its inputs", () => {
    const mounted = Route.mount(Path.of("m"), handler, {
      methods: ["GET"],
      doc: { GET: { tags: ["own"], responses: ok } },
    });
    const inputs = { page: Header.optional("x-page", Codec.string) };
    const grouped = Route.group({ prefix: Path.of("v1"), tags: ["group"], inputs }, [mounted]);
    expect(paths(grouped)["/v1/m"]?.["get"]).toMatchObject({
      tags: ["group", "own"],
      parameters: [{ name: "x-page" }],
    });
  });

  it("leaves out a hidden mount", () => {
    const meta = Meta.empty.add(Meta.hidden, true);
    expect(paths([Route.mount(Path.of("m"), handler, { meta, doc: { GET: { responses: ok } } })])).toEqual({});
  });

  it("refuses an operation that a route has, too", () => {
    const mounted = Route.mount(Path.of("m"), handler, { doc: { "GET /me": { responses: ok } } });
    const route = get(Path.of("m", "me"), { returns: Returns.text }, () => "");
    expect(() => Openapi.document([mounted, route])).toThrow("GET /m/me and GET /m/me are both the operation get_m_me");
  });

  it("is on the page's document", async () => {
    const app = App.make([users, ...Openapi.docs([users], { title: "Users" })]);
    const served = (await (await app.fetch(new Request("http://h/openapi.json"))).json()) as Openapi.Document;
    expect(Object.keys(served.paths)).toContain("/t/{tenant}/users/{id}/lock");
  });
});

describe("a mount in a group", () => {
  it("answers only its methods", async () => {
    const mounted = Route.mount(Path.of("m"), handler, { methods: ["GET"] });
    const app = App.make(Route.group({ prefix: Path.of("v1") }, [mounted]));
    expect((await app.fetch(new Request("http://h/v1/m", { method: "PUT" }))).status).toBe(405);
    expect((await app.fetch(new Request("http://h/v1/m"))).status).toBe(200);
  });
});

it("usher routes lists the operations below their mount", async () => {
  let said = "";
  const terminal = { out: (text: string) => (said += text), columns: 200 };
  await routesCommand.run([new URL("doc-routes.ts", import.meta.url).pathname], terminal as never);
  expect(said.split("\n").map((line) => line.split(/ {2,}/).slice(0, 4).join(" | "))).toEqual([
    "METHOD | PATH | READS | ANSWERS",
    expect.stringContaining("* | /auth/{rest*}"),
    "GET | /auth/session | 200 mounted",
    "POST | /auth/sign-in/{provider} | path.provider | 302 4XX mounted",
    "",
  ]);
});

describe("what is refused at start", () => {
  const mountWith = (doc: unknown, more: object = {}) =>
    Route.mount(Path.of("m", Path.str("id")), handler, { doc: doc as Route.MountDoc, ...more });
  it.each<[what: string, doc: unknown, message: string, more?: object]>([
    ["no object", "GET", "doc"],
    ["a method in lower case", { get: { responses: ok } }, '"get" is no "GET"'],
    ["no method", { "/a": { responses: ok } }, '"/a" is no "GET"'],
    ["a path without a slash", { "GET a": { responses: ok } }, '"GET a" is no "GET"'],
    ["a method of others", { PUT: { responses: ok } }, "does not answer: GET", { methods: ["GET"] }],
    ["a segment that is empty", { "GET /a//b": { responses: ok } }, "neither a text nor a parameter"],
    ["half a parameter", { "GET /a{b}": { responses: ok } }, "neither a text nor a parameter"],
    ["a parameter twice", { "GET /{a}/{a}": { responses: ok } }, "the parameter a twice"],
    ["a parameter of the mount", { "GET /{id}": { responses: ok } }, "the parameter id twice"],
    ["no responses", { GET: {} }, "responses"],
    ["no response", { GET: { responses: {} } }, "has no status"],
    ["a status that is none", { GET: { responses: { 2000: { description: "" } } } }, '"2000" is no status'],
    ["a response without description", { GET: { responses: { 200: {} } } }, "an object with a description"],
    ["an unknown member", { GET: { responses: ok, sumary: "" } }, "sumary is none of its members"],
    ["a summary that is no text", { GET: { responses: ok, summary: 1 } }, "summary"],
    ["tags that are no list", { GET: { responses: ok, tags: "a" } }, "tags"],
    ["a body that is none", { GET: { responses: ok, requestBody: "a" } }, "requestBody"],
  ])("%s", (_what, doc, message, more) => {
    expect(() => mountWith(doc, more)).toThrow(message);
  });
});
