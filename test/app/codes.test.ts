/** One code has one meaning: what App.make reports about codes (contract 7.3; rows ST-24 to ST-31). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Dep, Health, Path, Refusal, Returns, get, json, post, refuse } from "usher-http";
import type { Code, Route } from "usher-http";

const code = Refusal.code;
const doc = "There is another.";
const conflict = code("conflict", { status: 409, doc });
const a = at("a", conflict);

function at(path: string, ...refuses: readonly Code[]): Route {
  return get(Path.of(path), { returns: Returns.text, refuses }, () => "");
}

function refused(routes: readonly Route[], codes: readonly Code[] = []): string | undefined {
  try {
    App.make(routes, { codes });
    return undefined;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

describe("a code with two meanings is refused", () => {
  const other = (options: Partial<Code>) => code("conflict", { status: 409, doc, ...options });
  const inGet = "App.make: the code conflict means two things: 409 (There is another.) in GET /a, and";
  const next = ": rename one of them, or use one code in both";
  it.each([
    ["ST-24", [a, at("b", other({ status: 422 }))], `${inGet} 422 (There is another.) in GET /b${next}`],
    ["ST-26", [a, at("b", other({ doc: "No." }))], `${inGet} 409 (No.) in GET /b${next}`],
    ["ST-27", [a, at("b", other({ challenge: "Test" }))], `${inGet} 409 (There is another.) in GET /b${next}`],
    [
      "ST-28",
      [at("a", code("not_found", { status: 410, doc: "It went." }))],
      `App.make: the code not_found means two things: 404 (Nothing is here.) in the framework, and 410 (It went.) in GET /a${next}`,
    ],
    [
      "ST",
      [
        get(
          Path.of("b"),
          { inputs: { off: Dep.refuse(refuse(other({ status: 410 }))) }, returns: Returns.text },
          () => "",
        ),
        a,
      ],
      `App.make: the code conflict means two things: 410 (There is another.) in GET /b, and 409 (There is another.) in GET /a${next}`,
    ],
    [
      "ST",
      [
        a,
        post(
          Path.of("b"),
          { inputs: { x: json(v.string(), { refusal: [other({ status: 400 }), ""] }) }, returns: Returns.text },
          () => "",
        ),
      ],
      `${inGet} 400 (There is another.) in POST /b${next}`,
    ],
  ])("%s %#", (_id, routes, said) => {
    expect(refused(routes)).toBe(said);
  });

  it("ST the application's own codes are compared too", () => {
    const said = `App.make: the code conflict means two things: 410 (No.) in the application, and 409 (There is another.) in GET /a${next}`;
    expect(refused([a], [other({ status: 410, doc: "No." })])).toBe(said);
  });

  it("ST a code that only some of the framework's routes have is compared on those routes", () => {
    const own = at("a", code("not_ready", { status: 409, doc: "Not yet." }));
    expect(refused([own])).toBeUndefined();
    expect(refused([own, ...Health.routes([])])).toContain(
      "the code not_ready means two things: 409 (Not yet.) in GET /a, and 503 (",
    );
  });

  it("ST-25 the same meaning declared twice is one code", () => {
    expect(
      refused([a, at("b", other({}), conflict), at("c", Refusal.notFound, Refusal.invalid)], [other({})]),
    ).toBeUndefined();
  });
});

describe("a 401 and its WWW-Authenticate challenge", () => {
  // The compiler refuses a 401 without a challenge when it knows the status.
  const unauthorized: number = 401;
  const nobody = code("nobody", { status: unauthorized, doc: "Nobody." });
  const missing = (where: string) =>
    `App.make: the code nobody in ${where} is a 401 with no challenge, which its WWW-Authenticate must name`;

  it("ST-30 a 401 without a challenge is refused on a route", () => {
    expect(refused([at("p", nobody)])).toBe(missing("GET /p"));
  });
  it("ST-30 a 401 without a challenge is refused in an input", () => {
    const off = get(Path.of("p"), { inputs: { off: Dep.refuse(refuse(nobody)) }, returns: Returns.text }, () => "");
    expect(refused([off])).toBe(missing("GET /p"));
  });
  it("ST-31 a 401 without a challenge is refused in the application's codes", () => {
    expect(refused([], [nobody])).toBe(missing("the application"));
  });
  it("ST-30 a 401 with an empty challenge is refused", () => {
    expect(refused([at("p", code("nobody", { status: 401, doc: "Nobody.", challenge: "" }))])).toBe(missing("GET /p"));
  });
  it.each(["Bearer\r\nset-cookie: a=1", 'Bearer realm="\u0000"', 'Bearer realm="é"'])(
    "is refused where no header can hold it: %j",
    (challenge) => {
      expect(refused([at("p", code("nobody", { status: 401, doc: "Nobody.", challenge }))])).toBe(
        "App.make: the code nobody in GET /p has a challenge that no header can hold",
      );
    },
  );
  it("ST-30 a 401 with a challenge is accepted; no other status needs one", () => {
    const challenged = code("nobody", { status: 401, doc: "Nobody.", challenge: "Test" });
    expect(refused([at("p", challenged), at("q", code("forbidden", { status: 403, doc: "No." }))])).toBeUndefined();
  });
});

describe("the status of a code", () => {
  it.each([100, 200, 204, 302, 399, 600, 0, -1, 404.5, Number.NaN])(
    "ST %d is refused as the status of a failure",
    (status) => {
      const said = `App.make: the code odd in GET /p is a ${status}, where a refusal is 4xx or 5xx`;
      expect(refused([at("p", code("odd", { status, doc: "" }))])).toBe(said);
    },
  );
  it.each([400, 418, 499, 500, 599])("ST %d is accepted as the status of a failure", (status) => {
    expect(refused([at("p", code("odd", { status, doc: "" }))])).toBeUndefined();
  });
});
