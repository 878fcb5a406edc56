/** Mistakes of JavaScript callers in a route and in `App.make`: each message names the route and the member. */
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { App, Dep, Health, Meta, Path, Query, Refusal, Returns, Route, get } from "usher-http";
import * as v from "valibot";
import "../support/logs.ts";

const wrong: readonly (readonly [kind: string, value: unknown])[] = [
  ["null", null],
  ["a number", 7],
  ["a string", "x"],
  ["another object", {}],
  ["a promise", Promise.resolve(1)],
];
const right = { inputs: {}, returns: Returns.text, refuses: [Refusal.notFound], tags: ["a"], meta: Meta.empty };
const hello = () => "hello";
const at = Path.of("a");

function thrownBy(make: () => unknown): unknown {
  try {
    return make();
  } catch (thrown) {
    return thrown;
  }
}

function refused(make: () => unknown): unknown {
  const thrown = thrownBy(make);
  return thrown instanceof Error ? thrown.message : "nothing";
}

/** A route whose declaration has one member of a wrong type. */
const withMember = (member: object): Route => get(at, { ...right, ...member } as never, hello as never);

it.each([
  ["that Path did not make", { kind: "param", name: "id", codec: {}, declines: false }],
  ["of an older version", { kind: "rest", name: "rest" }],
])("a parameter %s in a path", (_which, segment) => {
  const path = { pattern: "/{id}", segments: [segment] };
  expect(refused(() => App.make([get(path as never, right, hello)]))).toBe(
    "App.make: GET /{id}: a segment of its path is another object, and not a text or a parameter of Path",
  );
});

describe.each(wrong)("%s in place of a declared value", (kind, value) => {
  it.each([
    ["returns", withMember({ returns: value }), "one of Returns"],
    ["refuses", withMember({ refuses: value }), "a list of codes of Refusal.code"],
    ["refuses[1]", withMember({ refuses: [Refusal.notFound, value] }), "a code of Refusal.code"],
    ["tags", withMember({ tags: value }), "a list of texts"],
    ["meta", withMember({ meta: value }), "made from Meta.empty"],
    ["its handler", get(at, right, value as never), "a function"],
  ] as const)("in the member %s %#", (member, route, what) => {
    const said = String(refused(() => App.make([route])));
    expect(said).toMatch(/^App\.make: GET \/a: /);
    expect(said).toContain(`${member} is `);
    expect(said).toContain(`, and not ${what}`);
  });

  it("in an input, and in an input below it", () => {
    const input = "and not an input: one of Query, Header, json, param, Dep";
    expect(refused(() => App.make([withMember({ inputs: { x: value } })]))).toBe(
      `App.make: GET /a: the input x is ${kind}, ${input}`,
    );
    const below = Dep.all({ deep: Dep.map(value as never, hello) });
    expect(refused(() => App.make([withMember({ inputs: { page: Query.list("p", {} as never), x: below } })]))).toBe(
      `App.make: GET /a: the input x is made from ${kind}, ${input}`,
    );
  });

  it("in a route, and in the list of routes", () => {
    expect(refused(() => App.make([value] as never))).toMatch(/^App\.make: the route 0 of the list is /);
    expect(refused(() => App.make(value as never))).toBe(`App.make: the routes are ${kind}, and not a list of routes`);
  });

  it.each(["resources", "codes"])("in %s of an app", (name) => {
    expect(refused(() => App.make([], { [name]: value }))).toBe(`App.make: ${name} is ${kind}, and not a list`);
  });

  it("in trustedOrigins and in trustedProxies of an app", () => {
    const sentence = `App.make: trustedOrigins is ${kind}, and not a list of texts`;
    expect(refused(() => App.make([], { trustedOrigins: value as never }))).toBe(sentence);
    const made = `App.make: trustedProxies is ${kind}, and not made by Proxies.make: write Proxies.make(addresses)`;
    expect(refused(() => App.make([], { trustedProxies: value as never }))).toBe(made);
  });
});

it.each([
  ["a path parameter", Path.int("id"), "is a parameter of Path: write param(…) of it"],
  ["a schema", v.number(), "is a schema: write json(…) of it, or Query.required(name, …)"],
])("as an input, %s gets a message that says what to write", (_what, value, said) => {
  const inputs = { x: value } as never;
  expect(refused(() => App.make([get(at, { inputs, returns: Returns.text }, hello)]))).toBe(
    `App.make: GET /a: the input x ${said}`,
  );
  const below = { x: Dep.map(value as never, hello) };
  expect(refused(() => App.make([get(at, { inputs: below, returns: Returns.text }, hello)]))).toBe(
    `App.make: GET /a: the input x ${said.replace("is", "is made from")}`,
  );
});

it.each([
  ["a list of routes", Health.routes(), "is a list: write `...` before it"],
  ["a group", Route.group({}), "is a group: list the routes that it made"],
])("as a route, %s gets a message that says what to write", (_what, value, said) => {
  expect(refused(() => App.make([value] as never))).toBe(`App.make: the route 0 of the list ${said}`);
});

it("a schema in place of Returns gets a message that says what to write", () => {
  expect(refused(() => App.make([withMember({ returns: v.object({}) })]))).toBe(
    "App.make: GET /a: returns is a schema: write Returns.json(…) of it",
  );
});

it("a code of an input that is not a code is refused", () => {
  const user = Dep.join({}, hello, { refuses: [Refusal.notFound, "gone"] as never });
  expect(refused(() => App.make([withMember({ inputs: { user } })]))).toBe(
    "App.make: GET /a: the input user is made from codes: refuses[1] is a string, and not a code of Refusal.code",
  );
});

it("an error about declarations lists each mistake once", () => {
  const made = () => App.make([withMember({ returns: 1 }), withMember({ refuses: 2 })]);
  const printed = inspect(thrownBy(made));
  expect(printed.match(/returns is a number/g)).toHaveLength(1);
  expect(printed.match(/refuses is a number/g)).toHaveLength(1);
});

it("a route without its path or its declaration is refused", () => {
  expect(refused(() => get(undefined as never, right, hello))).toBe("a route of GET: its path is not made by Path.of");
  expect(refused(() => get(at, undefined as never, hello as never))).toBe(
    "GET /a: its second argument is no object with `returns`",
  );
});

it.each(["input", "guard", "Returns", "handler"])("a member that a route does not have is refused: %s", (member) => {
  expect(refused(() => get(at, { ...right, [member]: {} }, hello as never))).toBe(
    `GET /a: ${member} is none of a route's members: inputs, returns, refuses, meta, summary, description, tags`,
  );
});

it("inputs that share others deeply are each visited once", () => {
  let shared: Dep.Dep<unknown> = Dep.return(1);
  for (let depth = 0; depth < 60; depth++) shared = Dep.all({ a: shared, b: shared });
  expect(refused(() => App.make([withMember({ inputs: { shared } })]))).toBe("nothing");
});
