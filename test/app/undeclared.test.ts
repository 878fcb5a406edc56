/** An answer that a route does not declare is sent and logged as a bug, and Test.call throws (7.2). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, App, Codec, Dep, Path, Query, Refusal, Returns, Test, answer, get, put, refuse } from "usher-http";
import type { Route } from "usher-http";
import { lines, messages } from "../support/logs.ts";

const name = Path.str("name");
const gone = Refusal.code("gone", { status: 410, doc: "It went." });
const users = Path.of("users", name);

const stray = put(users, { returns: Returns.jsonResponse(v.string(), { 200: "Replaced.", 201: "Made." }) }, () =>
  answer(202 as 200, "stray"),
);
const strayEmpty = put(users, { returns: Returns.emptyResponse({ 204: "Done." }) }, () => answer(201 as 204));
const strayOwn = put(
  users,
  { returns: Returns.responses({ 303: "Moved." }) },
  () => new Response(null, { status: 202 }),
);
const returned = put(users, { returns: Returns.text }, () => refuse(gone) as never);
const thrown = put(users, { returns: Returns.text }, () => {
  throw refuse(gone);
});
const input = put(
  users,
  { inputs: { off: Dep.join({}, () => refuse(gone) as never) }, returns: Returns.text },
  () => "",
);
const built = put(users, { returns: Returns.response }, () => Answer.refusal(refuse(gone)));

describe("an undeclared answer is sent, logged at error level, and Test.call throws it", () => {
  it.each([
    ["AN-06", "a status no list has", stray, 202, "PUT /users/{name} answered 202, which its Returns does not list"],
    ["AN-06", "an empty one", strayEmpty, 201, "PUT /users/{name} answered 201, which its Returns does not list"],
    ["AN", "one of the route's own", strayOwn, 202, "PUT /users/{name} answered 202, which its Returns does not list"],
    [
      "RF",
      "a code returned",
      returned,
      410,
      "PUT /users/{name} refused with gone, which nothing declares: list it in refuses",
    ],
    [
      "RF",
      "a code thrown",
      thrown,
      410,
      "PUT /users/{name} refused with gone, which nothing declares: list it in refuses",
    ],
    [
      "RF",
      "an input's code",
      input,
      410,
      "PUT /users/{name} refused with gone, which nothing declares: list it in refuses",
    ],
    [
      "RF",
      "a code built",
      built,
      410,
      "PUT /users/{name} refused with gone, which nothing declares: list it in refuses",
    ],
  ])("%s %s", async (_id, _what, route: Route, status, said) => {
    const { fetch } = App.make([route]);
    const response = await fetch(new Request("http://h/users/kim", { method: "PUT" }));
    expect(response.status).toBe(status);
    expect(messages("error")).toEqual([said]);
    const [line] = lines();
    expect([line?.["logger.name"], line?.["url.path"], line?.["http.route"]]).toEqual([
      "framework.http",
      "/users/kim",
      "/users/{name}",
    ]);
    expect(messages("info")).toEqual([`PUT /users/kim ${status}`]);
    await expect(Test.call(Test.app([route]), "PUT", "/users/kim")).rejects.toThrow(said);
  });
});

describe("these answers are no bug", () => {
  it("AN-04 a status that the route lists", async () => {
    const listed = put(users, { returns: Returns.jsonResponse(v.string(), { 200: "Replaced.", 201: "Made." }) }, () =>
      answer(201, "made"),
    );
    expect((await Test.call(Test.app([listed]), "PUT", "/users/kim")).status).toBe(201);
  });

  it("RF-03 a code that any of its inputs declares", async () => {
    const off = Dep.join({ q: Query.optional("q", Codec.int) }, () => refuse(gone), { refuses: [gone] });
    const through = put(users, { inputs: { deep: Dep.map(off, String) }, returns: Returns.text }, () => "");
    expect((await Test.call(Test.app([through]), "PUT", "/users/kim")).status).toBe(410);
  });

  it.each([Refusal.invalid, Refusal.unreadable, Refusal.tooLarge, Refusal.busy, Refusal.internal])(
    "RF-04 a framework code, $name",
    async (code) => {
      const own = put(users, { returns: Returns.text }, () => refuse(code));
      expect((await Test.call(Test.app([own]), "PUT", "/users/kim")).status).toBe(code.status);
      expect(messages("error")).toEqual([]);
    },
  );

  it("RF a Response of any status", async () => {
    const teapot = get(Path.root, { returns: Returns.response }, () => Answer.make("tea", { status: 418 }));
    expect((await Test.call(Test.app([teapot]), "GET", "/")).status).toBe(418);
  });
});

it("RF the code of a not-found answer is one of the app's codes", async () => {
  const options = { notFound: () => Answer.refusal(refuse(gone, "It went.")) };
  const declared = await Test.call(Test.app([], { ...options, codes: [gone] }), "GET", "/x");
  expect([declared.status, declared.body]).toEqual([410, '{"error":"gone","message":"It went."}']);
  await expect(Test.call(Test.app([], options), "GET", "/x")).rejects.toThrow(
    "GET /x refused with gone, which nothing declares: list it in the option codes",
  );
});
