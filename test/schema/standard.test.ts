/**
 * Schemas of any library of Standard Schema where a shape stands: one table of cases over four libraries. What a client sends
 * is at the same place in each, and no value of it is in a message.
 */
import { describe, expect, it } from "vitest";
import { Path, Refusal, Returns, Test, json, post } from "usher-http";
import type { Problem, Route } from "usher-http";
import { lines, logged } from "../support/logs.ts";
import { arktype, effects, valibot, zod } from "./libraries.ts";
import type { Library, Schema } from "./libraries.ts";

const libraries = [valibot, zod, arktype, effects];
const others = [zod, arktype, effects];

/** Answers with what the handler got, as JSON has it. */
function echo(schema: Schema): Route {
  return post(
    Path.of("echo"),
    { inputs: { body: json(schema as Library["order"] & { readonly "~run"?: never }) }, returns: Returns.text },
    ({ body }) => JSON.stringify(body),
  );
}

async function send(schema: Schema, body: string, maxProblems?: number): Promise<Test.Answered> {
  const app = Test.app([echo(schema)], maxProblems === undefined ? {} : { maxProblems });
  return Test.call(app, "POST", "/echo", { body, headers: { "content-type": "application/json" } });
}

async function problemsOf(schema: Schema, body: unknown): Promise<readonly Problem[]> {
  const answer = await send(schema, JSON.stringify(body));
  expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('"invalid"')]);
  return (answer.json() as { problems: Problem[] }).problems;
}

const good = { item: "pen", count: 3, tags: ["a"], state: "new", buyer: { name: "Kim" } };
const secret = "s3cret-value";

/** What is sent, and the places of the problems; `required` where it is missing. */
const wrong: readonly (readonly [
  what: string,
  part: Exclude<keyof Library, "name">,
  sent: unknown,
  places: readonly string[],
  code?: string,
])[] = [
  ["nothing", "order", {}, ["body.buyer", "body.count", "body.item", "body.state", "body.tags"], "required"],
  ["a text that is too short", "order", { ...good, item: "z" }, ["body.item"]],
  ["a text for a number", "order", { ...good, count: secret }, ["body.count"]],
  ["a fraction", "order", { ...good, count: 77.5 }, ["body.count"]],
  ["a number that is too small", "order", { ...good, count: -987654321012 }, ["body.count"]],
  ["a number within a list", "order", { ...good, tags: ["a", 987654321012] }, ["body.tags[1]"]],
  ["another word", "order", { ...good, state: secret }, ["body.state"]],
  ["a text for an object", "order", { ...good, buyer: secret }, ["body.buyer"]],
  ["a missing member within", "order", { ...good, buyer: {} }, ["body.buyer.name"], "required"],
  ["null", "order", { ...good, item: null }, ["body.item"]],
  ["a text for all of it", "order", secret, ["body"]],
  ["neither of a union", "union", { [secret]: secret }, ["body"]],
  [
    "a wrong leaf of a tree",
    "tree",
    { label: "a", below: [{ label: 987654321012, below: [] }] },
    ["body.below[0].label"],
  ],
  ["an odd name", "record", { "odd name": secret }, ['body["odd name"]']],
  ["a name of digits", "record", { "7": secret }, ["body.7"]],
  ["an object for a text", "text", { a: { b: [secret, 987654321012, true] } }, ["body"]],
  ["a list for a text", "text", [secret, 987654321012], ["body"]],
];

describe.each(libraries)("a body by $name", (library) => {
  it("is read", async () => {
    expect((await send(library.order, JSON.stringify({ ...good, other: 1 }))).json()).toEqual(good);
    expect((await send(library.union, "7")).body).toBe("7");
    expect((await send(library.length, '"seven"')).body).toBe("5");
    expect((await send(library.day, '"2026-09-30T12:00:00.000Z"')).body).toBe('"2026-09-30T12:00:00.000Z"');
    expect((await send(library.defaulted, "{}")).json()).toEqual({ note: "none" });
    const tree = { label: "a", below: [{ label: "b", below: [] }] };
    expect((await send(library.tree, JSON.stringify(tree))).json()).toEqual(tree);
  });

  it.each(wrong)("with %s has its problems, and quotes nothing", async (_what, part, sent, places, code) => {
    const problems = await problemsOf(library[part as "order"], sent);
    expect(problems.map(({ at }) => at).toSorted()).toEqual(places);
    for (const problem of problems) {
      expect(problem.code).toMatch(code === undefined ? /^(?!required)[a-z][a-z0-9_]*$/ : new RegExp(`^${code}$`));
      expect(problem.message).toMatch(/\S/);
      expect(problem.message).not.toMatch(/s3cret|987654321012|77\.5/);
    }
    expect(logged().join("\n")).not.toMatch(/s3cret|987654321012|77\.5/);
  });

  it.each([
    ["no JSON", "{", "malformed", "This is not JSON."],
    [
      "nesting that is too deep",
      `${"[".repeat(513)}${"]".repeat(513)}`,
      "too_deep",
      "This is nested more than 512 deep.",
    ],
    ["half of a surrogate pair", '"\\ud800"', "malformed", "This is not JSON."],
  ])("of %s is refused like JSON of any shape", async (_what, sent, code, message) => {
    const { problems } = (await send(library.text, sent)).json() as { problems: Problem[] };
    expect(problems).toEqual([{ at: "body", code, message }]);
  });

  it("has no member that could change a prototype", async () => {
    const sent = '{"__proto__":1,"constructor":2,"a":3,"\\u005f_proto__":4}';
    const { status, body } = await send(library.record, sent);
    expect([status, body]).toEqual([200, '{"a":3}']);
  });

  it("has no number that is too large to be exact", async () => {
    const { problems } = (await send(library.record, '{"a":1e400}')).json() as { problems: Problem[] };
    expect(problems).toEqual([{ at: "body.a", code: "too_large", message: expect.stringMatching(/large/) }]);
  });

  it("lists at most maxProblems", async () => {
    const sent = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`m${n}`, "x"]));
    const told = (await send(library.record, JSON.stringify(sent), 5)).json() as { problems: Problem[]; more: number };
    expect([told.problems.length, told.more]).toEqual([5, 7]);
  });

  it("of the maximum depth is read or refused", async () => {
    let tree: object = { label: "a", below: [] };
    for (let level = 0; level < 254; level++) tree = { label: "a", below: [tree] };
    expect((await send(library.tree, JSON.stringify(tree))).status).toBe(200);
  });

  it("whose check throws is a 500 with its stack, and without its message", async () => {
    const { status, body } = await send(library.raising, '"boom"');
    expect(status).toBe(500);
    expect(body).not.toContain("secret");
    const line = lines().find((line) => "error.kind" in line);
    const kind = library.name === "effect" ? "SchemaError" : "TypeError";
    expect(line).toMatchObject({ "error.kind": kind, "http.route": "/echo" });
    expect(line?.["error.stack"]).toMatch(/libraries\.ts/);
    expect(logged().join("\n")).not.toContain("secret");
  });
});

describe.each(others.filter(({ slow }) => slow !== undefined))(
  "a schema of $name that validates by a promise",
  (library) => {
    it("is awaited for a body", async () => {
      const slow = library.slow as Schema;
      expect((await send(slow, '"free"')).body).toBe('"free"');
      expect((await problemsOf(slow, secret)).map(({ at, message }) => [at, message.includes(secret)])).toEqual([
        ["body", false],
      ]);
    });

    it("is refused for an answer", async () => {
      const schema = library.slow as Schema & { readonly "~run"?: never };
      const route = post(Path.of("slow"), { returns: Returns.json(schema) }, () => "free");
      expect((await Test.call(Test.app([route]), "POST", "/slow")).status).toBe(500);
      expect(logged().join("\n")).toContain(
        `its schema (${library.name}) validates by a promise, which is awaited only for a request's body, not for what is sent`,
      );
    });
  },
);

describe("a refusal of the author's", () => {
  it.each(others)("answers for a body by $name, and the log has no value", async ({ order }) => {
    const unfit = Refusal.code("unfit", { status: 422, doc: "Does not fit." });
    const body = json(order as Library["order"] & { readonly "~run"?: never }, { refusal: [unfit, "No."] });
    const route = post(Path.of("unfit"), { inputs: { body }, returns: Returns.text }, () => "");
    const sent = JSON.stringify({ ...good, state: secret, count: secret });
    const headers = { "content-type": "application/json" };
    const { status, body: told } = await Test.call(Test.app([route]), "POST", "/unfit", { body: sent, headers });
    expect([status, told]).toEqual([422, '{"error":"unfit","message":"No."}']);
    expect(logged().join("\n")).toMatch(/body\.state: /);
    expect(logged().join("\n")).not.toContain("s3cret");
  });
});
