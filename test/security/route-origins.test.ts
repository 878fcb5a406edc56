/** Routes that take requests from pages of other sites (`Meta.crossOrigin`). */
import { describe, expect, it } from "vitest";
import { App, Meta, Openapi, Path, Returns, Test, get, post } from "usher-http";
import { messages } from "../support/logs.ts";

const postTo = (name: string, origins?: "any" | readonly string[]) =>
  post(
    Path.of(name),
    {
      returns: Returns.text,
      ...(origins === undefined ? {} : { meta: Meta.empty.add(Meta.crossOrigin, origins) }),
    },
    () => "done",
  );
const routes = [
  postTo("any", "any"),
  postTo("listed", ["https://idp.example", "null"]),
  postTo("own"),
  get(Path.of("page"), { returns: Returns.text }, () => "page"),
];
const app = Test.app(routes);
const idp = [["origin", "https://idp.example"]] as const;
const idpPort = [["origin", "https://idp.example:443"]] as const;
const evil = [["origin", "https://evil.example"]] as const;
const hidden = [["origin", "null"]] as const;
const crossSite = [["sec-fetch-site", "cross-site"]] as const;
const two = [...idp, ...evil];

describe("a POST from another site", () => {
  it.each([
    ["/any", evil, 200],
    ["/any", hidden, 200],
    ["/any", crossSite, 200],
    ["/listed", idp, 200],
    ["/listed", idpPort, 200],
    ["/listed", [...idp, ...crossSite], 200],
    ["/listed", hidden, 200],
    ["/listed", evil, 403],
    ["/listed", two, 403],
    ["/listed", crossSite, 403],
    ["/own", idp, 403],
    ["/own", hidden, 403],
    ["/own", crossSite, 403],
    // Without a route, the check comes before 404 and 405.
    ["/none", evil, 403],
    ["/page", evil, 403],
  ] as const)("to %s with %j is %d", async (target, headers, status) => {
    expect((await Test.call(app, "POST", target, { headers })).status).toBe(status);
  });
});

it("is named at start", () => {
  App.make(routes);
  expect(messages("info")).toEqual([
    "POST /any takes requests from pages of any origin, by its Meta.crossOrigin",
    "POST /listed takes requests from pages of https://idp.example, null, by its Meta.crossOrigin",
  ]);
});

it("has no cross_origin among the answers of the API document where it takes all", () => {
  const document = JSON.stringify(Openapi.document(routes, { title: "t", version: "1" }).paths);
  const { paths } = { paths: JSON.parse(document) as { [path: string]: unknown } };
  expect(JSON.stringify(paths["/any"])).not.toContain("cross_origin");
  expect(JSON.stringify(paths["/listed"])).toContain("cross_origin");
});

it.each([
  ["https://idp.example/", 'write \\"https://idp.example\\"'],
  ["idp.example", "is not an origin"],
  ["*", "is not an origin"],
])("refuses %s at start", (origin) => {
  expect(() => App.make([postTo("a", [origin])])).toThrow(
    `POST /a: its Meta.crossOrigin: ${JSON.stringify(origin)} is not an origin`,
  );
});

it.each([[[]], ["all"], [true], [["https://a.example", 1]]])("refuses %j at start", (origins) => {
  expect(() => App.make([postTo("a", origins as never)])).toThrow(
    'POST /a: its Meta.crossOrigin is "any" or a list of origins',
  );
});
