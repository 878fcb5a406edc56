/** What the document says of an app's CORS policy. */
import { expect, it } from "vitest";
import { Cors, Openapi, Path, Returns, Test, get } from "usher-http";

const shared = get(Path.of("shared"), { returns: Returns.text }, () => "");
const own = get(Path.of("own"), { returns: Returns.text }, () => "");

const told = (cors?: Cors) => {
  const { paths } = Openapi.document([shared, own], cors === undefined ? {} : { cors });
  const of = (path: string) => (paths[path]?.["get"] as { "x-cors"?: unknown } | undefined)?.["x-cors"];
  return [of("/shared"), of("/own")];
};

it("each operation of the policy lists the origins that may read its answers", () => {
  const cors = Cors.make({ origins: ["https://app.example"], credentials: true, expose: ["x-page"], routes: [shared] });
  const headers = ["authorization", "content-type"];
  const said = { origins: ["https://app.example"], credentials: true, headers, expose: ["x-page"], maxAge: 600 };
  expect(told(cors)).toEqual([said, undefined]);
});

it("has the seconds of Access-Control-Max-Age", async () => {
  const cors = Cors.make({ origins: ["https://app.example"], maxAgeMs: 1500 });
  const headers = { origin: "https://app.example", "access-control-request-method": "GET" };
  const answer = await Test.call(Test.app([shared], { cors }), "OPTIONS", "/shared", { headers });
  expect(answer.headers.get("access-control-max-age")).toBe("2");
  expect(told(cors)[0]).toMatchObject({ maxAge: 2 });
});

it("a policy of all routes is described at all of them, and a policy of no routes at none", () => {
  const [first, second] = told(Cors.make({ origins: "any" }));
  expect(first).toMatchObject({ origins: "any", credentials: false });
  expect(second).toEqual(first);
  expect(told()).toEqual([undefined, undefined]);
});
