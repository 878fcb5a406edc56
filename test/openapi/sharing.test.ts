/** What the document says of an app's CORS policy. */
import { expect, it } from "vitest";
import { Cors, Openapi, Path, Returns, get } from "usher-http";

const shared = get(Path.of("shared"), { returns: Returns.text }, () => "");
const own = get(Path.of("own"), { returns: Returns.text }, () => "");

const told = (cors?: Cors) => {
  const { paths } = Openapi.document([shared, own], cors === undefined ? {} : { cors });
  const of = (path: string) => (paths[path]?.["get"] as { "x-cors"?: unknown } | undefined)?.["x-cors"];
  return [of("/shared"), of("/own")];
};

it("each operation that the policy covers says whose pages may read its answers", () => {
  const cors = Cors.make({ origins: ["https://app.example"], credentials: true, expose: ["x-page"], routes: [shared] });
  const headers = ["authorization", "content-type"];
  const said = { origins: ["https://app.example"], credentials: true, headers, expose: ["x-page"], maxAge: 600 };
  expect(told(cors)).toEqual([said, undefined]);
});

it("a policy of all routes is told at all of them, and none at none", () => {
  const [first, second] = told(Cors.make({ origins: "any" }));
  expect(first).toMatchObject({ origins: "any", credentials: false });
  expect(second).toEqual(first);
  expect(told()).toEqual([undefined, undefined]);
});
