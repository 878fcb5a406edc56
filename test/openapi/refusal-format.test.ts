/** The API document of an app with its own format of refusals. */
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import { App, Openapi, Path, RefusalFormat, Returns, Shape, Test, get } from "usher-http";
import type { AppOptions } from "usher-http";
import "../support/logs.ts";
import { gone, item, page, realWorld, routes } from "../support/refusal-formats.ts";
import { compiler } from "./ajv.ts";

describe("the API document with a refusal format", () => {
  const api = (format: RefusalFormat) => Openapi.document(routes, { refusalFormat: format });
  const responsesOf = (paths: Openapi.Document["paths"], path: string) => {
    return (paths[path] as { get: { responses: { [status: string]: object } } }).get.responses;
  };
  it("has its content type, shape and statuses, and no schema of the framework's", () => {
    const { paths, components } = api(RefusalFormat.problemDetails({ statuses: { invalid: 422 } }));
    const responses = responsesOf(paths, "/limit");
    expect(Object.keys(responses)).toEqual(["200", "422", "500", "503"]);
    expect(responses["422"]).toMatchObject({
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/ProblemDetails" } } },
    });
    expect(Object.keys(components.schemas)).toEqual(["ProblemDetails"]);
  });
  it("describes the refusals that are sent", async () => {
    const document = api(RefusalFormat.problemDetails());
    const app = Test.app(routes, { refusalFormat: RefusalFormat.problemDetails() });
    const { body } = await Test.call(app, "POST", "/orders", { body: { item: "" } });
    const fits = compiler(document)({ $ref: "#/components/schemas/ProblemDetails" });
    expect(fits(JSON.parse(body))).toBe(true);
    expect(fits({ error: "gone", message: "Sold." })).toBe(false);
  });
  describe.each(["3.1", "3.2"] as const)("of OpenAPI %s, where the shape has no name", (openapi) => {
    const shape = v.object({
      error: v.object({ code: v.string(), said: v.string() }),
      of: v.optional(Shape.named("Refused", v.object({ item: v.string() }))),
    });
    const own = RefusalFormat.json({
      shape,
      write: ({ error, message }) => ({ error: { code: error, said: message } }),
    });
    const document = (all: Parameters<typeof Openapi.document>[0]) =>
      Openapi.document(all, { refusalFormat: own, openapi });

    it("has it once, as a component that every refusal refers to", () => {
      const { paths, components } = document(routes);
      const text = JSON.stringify(paths);
      expect(text).not.toContain('"said"');
      expect(text).toContain('"application/json":{"schema":{"$ref":"#/components/schemas/Refusal"}}');
      expect(components.schemas["Refusal"]).toMatchObject({ type: "object", required: ["error"] });
      expect(JSON.stringify(components.schemas["Refusal"])).toContain('"$ref":"#/components/schemas/Refused"');
      const fits = compiler(document(routes))({ $ref: "#/components/schemas/Refusal" });
      expect([fits({ error: { code: "gone", said: "Sold." } }), fits({ error: "gone" })]).toEqual([true, false]);
    });

    it("has a number behind its name where a shape of the routes has that", () => {
      const named = Shape.named("Refusal", v.object({ why: v.string() }));
      const refusal = get(Path.of("refusal"), { returns: Returns.json(named) }, () => ({ why: "" }));
      const { paths, components } = document([refusal]);
      expect(Object.keys(components.schemas).toSorted()).toEqual(["Refusal", "Refusal2", "Refused"]);
      expect(JSON.stringify(responsesOf(paths, "/refusal")["500"])).toContain(
        '{"$ref":"#/components/schemas/Refusal2"}',
      );
      expect(JSON.stringify(responsesOf(paths, "/refusal")["200"])).toContain(
        '{"$ref":"#/components/schemas/Refusal"}',
      );
    });

    it("has one size a route, however long the shape is", () => {
      const many = Array.from({ length: 17 }, (_, i) => get(Path.of(`r${i}`), { returns: Returns.text }, () => ""));
      const long = v.object(
        Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`member${i}`, v.optional(v.string())])),
      );
      const sized = (shape: v.GenericSchema<object>) => {
        const format = RefusalFormat.json({ shape, write: () => ({}) });
        return JSON.stringify(Openapi.document(many, { refusalFormat: format, openapi }).paths).length;
      };
      expect(sized(long)).toBe(sized(v.object({})));
    });
  });
  it("describes a text format as text", () => {
    const responses = responsesOf(api(page).paths, "/gone");
    expect(responses["410"]).toMatchObject({ content: { "text/html": { schema: { type: "string" } } } });
  });
  it("is served by Openapi.docs with the format of its app", async () => {
    const docs = Openapi.docs(routes, { script: () => "" });
    const document = async (options: AppOptions) => {
      const app = Test.app([...routes, ...docs], { codes: [gone], ...options });
      return (await Test.call(app, "GET", "/openapi.json")).json();
    };
    expect(await document({ refusalFormat: realWorld })).toEqual(api(realWorld));
    expect(await document({})).toEqual(Openapi.document(routes));
    expect(await document({ refusalFormat: page })).toEqual(api(page));
  });
  it("App.make refuses a format that cannot be described next to the routes", () => {
    const named = RefusalFormat.json({
      shape: Shape.named("Order", v.object({ a: v.string() })),
      write: () => ({ a: "" }),
    });
    const order = get(Path.of("o"), { returns: Returns.json(Shape.named("Order", item)) }, () => ({
      item: "",
      quantity: 1,
    }));
    const docs = Openapi.docs([order], { script: () => "" });
    expect(() => App.make([order, ...docs], { refusalFormat: named })).toThrow(
      "GET /openapi.json cannot describe the API: two different shapes are named Order",
    );
  });
});
