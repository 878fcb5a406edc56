/** Refusals that middleware replaces (facts 14; rows MW) */
import { describe, expect, it } from "vitest";
import { Answer, Path, Refusal, Returns, Test, get, refuse } from "usher-http";
import type { Middleware, Route } from "usher-http";
import { lines, messages } from "../support/logs.ts";
import { kept } from "../telemetry/kept-spans.ts";

const gone = Refusal.code("gone", { status: 410, doc: "It went." });
const shut = Refusal.code("shut", { status: 503, doc: "It is shut." });
const refusing = get(Path.root, { returns: Returns.text, refuses: [gone] }, () =>
  refuse(gone, "It went.", { detail: "sold by the night job" }),
);
const wrong = get(Path.root, { returns: Returns.response }, () => 5 as never);
const page: Middleware = async (_request, next) => {
  const { status } = await next();
  return Answer.html("<h1>Sorry</h1>", { status });
};
const hides: Middleware = async (_request, next) => {
  await next();
  return Answer.make("nothing to see");
};
const other: Middleware = async (_request, next) => {
  await next();
  return Answer.refusal(refuse(shut, "Shut.", { detail: "by the operator" }));
};
/** Detail lines by their message, and the fields of the access line. */
async function told(middleware: readonly Middleware[], route: Route = refusing) {
  await Test.call(Test.app([route], { middleware, codes: [shut] }), "GET", "/");
  const all = lines();
  const access = all.filter((line) => "http.response.status_code" in line);
  expect(access).toHaveLength(1);
  const details = all.filter((line) => !("http.response.status_code" in line));
  return {
    details: details.map((line) => [line["level"], line["message"], line["framework.refusal.code"]]),
    access: [
      access[0]?.["http.response.status_code"],
      access[0]?.["framework.refusal.code"],
      access[0]?.["framework.refusal.replaced"],
    ],
  };
}
const sold = ["warn", "GET /: gone: sold by the night job", "gone"];

describe("a refusal that middleware replaces, in the log", () => {
  const same: Middleware = async (_request, next) => {
    const answer = await next();
    return { ...answer, headers: [...answer.headers, ["x-mine", "1"]] };
  };
  const raises: Middleware = async (_request, next) => {
    await next();
    throw new RangeError("a secret");
  };
  const shutBy = ["error", "GET /: shut: by the operator", "shut"];
  it.each([
    ["a page", [page], [sold], [410, "gone", undefined]],
    ["another status", [hides], [sold], [200, "gone", undefined]],
    ["another refusal", [other], [sold, shutBy], [503, "shut", "gone"]],
    ["the same with a header", [same], [sold], [410, "gone", undefined]],
    ["a page, by the outer of two", [page, same], [sold], [410, "gone", undefined]],
    ["a page, by the inner of two", [same, page], [sold], [410, "gone", undefined]],
    ["another refusal, and a page for that", [page, other], [sold, shutBy], [503, "gone", undefined]],
    [
      "nothing, but a raise",
      [raises],
      [["error", "GET /: internal: it raised", "internal"], sold],
      [500, "internal", "gone"],
    ],
  ] as const)(
    "is logged with its detail, and with what was answered: %s",
    async (_what, middleware, details, access) => {
      expect(await told(middleware)).toEqual({ details, access });
    },
  );
});

describe("a refusal that middleware replaces: a bug's, and a late one's", () => {
  it("is logged also when it is the 500 of a bug", async () => {
    expect(await told([page], wrong)).toEqual({
      details: [["error", "GET /: internal: an answer that is neither built with Answer nor a Response", "internal"]],
      access: [500, "internal", undefined],
    });
  });

  it("is logged also when it arrives after the answer", async () => {
    let go: () => void = () => {};
    let late: Promise<unknown> | undefined;
    const slow = get(Path.root, { returns: Returns.text, refuses: [gone] }, async () => {
      await new Promise<void>((resolve) => (go = resolve));
      return refuse(gone, "It went.", { detail: "too late" });
    });
    const impatient: Middleware = (_request, next) => {
      late = next();
      return Answer.make("", { status: 504 });
    };
    expect((await told([impatient], slow)).access).toEqual([504, undefined, undefined]);
    go();
    await late;
    expect(messages("warn")).toEqual(["GET /: gone: too late"]);
  });

  it("is in the span", async () => {
    const { trace, spans } = kept();
    for (const [middleware, code, replaced] of [
      [[hides], "gone", undefined],
      [[other], "shut", "gone"],
    ] as const) {
      await Test.call(Test.app([refusing], { middleware, codes: [shut], trace }), "GET", "/");
      const attributes = spans().at(-1)?.attributes;
      expect([attributes?.["framework.refusal.code"], attributes?.["framework.refusal.replaced"]]).toEqual([
        code,
        replaced,
      ]);
    }
  });
});
