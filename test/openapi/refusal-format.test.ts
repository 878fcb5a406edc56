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
