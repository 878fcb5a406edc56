/** The types that `usher client` writes of shapes and codecs. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { Codec, Event, Header, Path, Query, Refusal, Returns, Shape, get, json, post } from "usher-http";
import * as v from "valibot";
import type { ResponseDoc } from "../../src/answers/returns-type.ts";
import { clientModule } from "../../cli/client.ts";
import { newest } from "../package/compilers.ts";

const text = v.string();

/** What a client sends as JSON, and what it gets. */
function typesOf(shape: Shape): readonly (string | undefined)[] {
  const made = clientModule([
    post(Path.of("a"), { inputs: { a: json(shape) }, returns: Returns.json(shape) }, ({ a }) => a),
  ]);
  return [/\{ json: (.*) \} & CallOptions\],/.exec(made)?.[1], /Succeeded<200, (.*)>,\s*RefusedAs</.exec(made)?.[1]];
}

describe("the type of a shape", () => {
  it.each<readonly [what: string, shape: Shape, type: string, got?: string]>([
    ["a tuple", v.tuple([text, v.number()]), "[string, number]"],
    ["a tuple with more", v.tupleWithRest([text], v.number()), "[string, ...number[]]"],
    ["a loose tuple", v.looseTuple([text]), "[string, ...unknown[]]"],
    ["a tuple that may end", v.tuple([text, v.optional(v.number())]), "[string, (number | null)?]"],
    ["two patterns", v.pipe(text, v.regex(/[a-z]/), v.regex(/[0-9]/)), "string"],
    ["an address of either version", v.pipe(text, v.ip()), "string"],
    ["a word with a pattern", v.pipe(v.picklist(["a", "b"]), v.regex(/a/)), '"a" | "b"'],
    [
      "both of two objects",
      v.intersect([v.object({ a: text }), v.object({ b: text })]),
      "({ a: string }) & ({ b: string })",
    ],
    ["text and JSON of any kind", v.union([text, v.any()]), "unknown"],
    ["a list without an item", v.pipe(v.array(text), v.excludes("x")), "string[]"],
    ["a 64-bit number", Shape.int64, "number | string", "number"],
  ])("%s", (_what, shape, type, got = type) => {
    expect(typesOf(shape as Shape)).toEqual([type, got]);
  });
});

it("a codec of 64 bits is a bigint", () => {
  const inputs = { exact: Query.required("exact", Codec.int64), whole: Query.required("whole", Codec.int) };
  const made = clientModule([post(Path.of("a"), { inputs, returns: Returns.text }, () => "")]);
  expect(made).toContain("{ query: { exact: number | bigint; whole: number } }");
});

it("a header takes the value of its codec, and what is optional takes undefined", () => {
  const inputs = {
    size: Header.required("x-size", Codec.int64),
    since: Header.optional("x-since", Codec.instant),
    tags: Header.list("x-tags", Codec.int),
    own: Header.optional("if-none-match", Codec.entityTags),
    after: Query.optional("after", Codec.int),
  };
  const made = clientModule([post(Path.of("a"), { inputs, returns: Returns.text }, () => "")]);
  expect(made).toContain("{ query?: { after?: number | undefined } }");
  expect(made).toContain(
    `{ headers: { "x-size": number | bigint; "x-since"?: Date | string | undefined; "x-tags"?: readonly (number)[] | undefined; "if-none-match"?: string | undefined } }`,
  );
});

describe("the type of a response", () => {
  const of = (...contentTypes: readonly string[]) => ({ doc: "", contentTypes });
  it.each<readonly [what: string, statuses: { readonly [status: number]: string | ResponseDoc }, answers: string]>([
    ["a file", { 200: of("application/pdf"), 404: "None." }, "Succeeded<200, Response>"],
    ["a text", { 200: of("text/csv"), 202: of("TEXT/plain") }, "Succeeded<200, string> | Succeeded<202, string>"],
    [
      "an image or none",
      { 200: of("image/*"), 204: "", 304: "" },
      "Succeeded<200, Response> | Succeeded<204, undefined>",
    ],
    ["several", { 200: of("text/html", "application/zip", "text/css") }, "Succeeded<200, string | Response>"],
    ["lines", { 200: of("application/x-ndjson") }, "Succeeded<200, AsyncIterable<unknown>>"],
    ["JSON", { 200: of("application/problem+json") }, "Succeeded<200, unknown>"],
    ["any text", { 200: of("text/*") }, "Succeeded<200, unknown>"],
    ["a redirect", { 200: of("text/css"), 303: "" }, "Succeeded<number, unknown>"],
    ["none that succeeds", { 404: "" }, "Succeeded<number, unknown>"],
    ["no content type", { 200: "" }, "Succeeded<200, unknown>"],
  ])("%s", (_what, statuses, answers) => {
    const made = clientModule([get(Path.of("a"), { returns: Returns.responses(statuses) }, () => new Response())]);
    expect(/CallOptions\],\s*(Succeeded.*),\s*RefusedAs</.exec(made)?.[1]).toBe(answers);
  });
});

it("compares the named shapes once, however many routes there are", () => {
  const stringifiedFor = (count: number): number => {
    const routes = Array.from({ length: count }, (_, index) =>
      get(
        Path.of(`a${index}`),
        { returns: Returns.json(Shape.named(`thing ${index}`, v.object({ a: text }))) },
        () => ({
          a: "",
        }),
      ),
    );
    const stringify = vi.spyOn(JSON, "stringify");
    clientModule(routes);
    const { length } = stringify.mock.calls;
    stringify.mockRestore();
    return length;
  };
  expect(stringifiedFor(80)).toBeLessThan(6 * stringifiedFor(20));
});

describe("a generated client compiles", () => {
  const folder = mkdtempSync(join(tmpdir(), "usher-made-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  /** What the compiler says of the client, and of a program that calls it. */
  function problemsOf(routes: Parameters<typeof clientModule>[0], calls = ""): string {
    writeFileSync(join(folder, "client.ts"), clientModule(routes));
    writeFileSync(
      join(folder, "program.ts"),
      `import type { Client } from "./client.ts";\ndeclare const api: Client;\n${calls}`,
    );
    const platform = { target: "es2023", module: "nodenext", lib: ["es2023", "dom"], types: [] };
    const compilerOptions = { ...platform, strict: true, noEmit: true, allowImportingTsExtensions: true };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    try {
      return execFileSync(process.execPath, [join(newest, "bin/tsc"), "-p", folder], { encoding: "utf8" });
    } catch (thrown) {
      return (thrown as { stdout: string }).stdout;
    }
  }

  it("with a shape whose name begins with a digit", () => {
    const address = Shape.named("2nd address", v.object({ street: text }));
    const route = get(Path.of("a"), { returns: Returns.json(address) }, () => ({ street: "" }));
    expect(problemsOf([route])).toBe("");
  });

  it("with routes that differ only in the type of a parameter, which are one call", () => {
    const gone = Refusal.code("gone", { status: 410, doc: "It is gone." });
    const byNumber = Path.of("orders", Path.int("id", { unparsed: "next-route" }));
    const inputs = { full: Query.required("full", Codec.bool) };
    const returns = Returns.json(v.object({ number: v.number() }));
    const routes = [
      get(byNumber, { inputs, returns }, () => ({ number: 1 })),
      get(Path.of("orders", Path.str("id")), { returns: Returns.text, refuses: [gone] }, () => ""),
    ];
    const calls = `
      const call = api["GET /orders/{id}"];
      void call({ path: { id: 7 }, query: { full: true } });
      export const answer: Promise<{ number: number } | string | undefined> = call({ path: { id: "x" } }).then((outcome) =>
        outcome.ok ? outcome.value : outcome.error === "gone" ? outcome.error : undefined,
      );
      // @ts-expect-error: neither route takes it.
      void call({ path: { id: true } });`;
    expect(problemsOf(routes, calls)).toBe("");
  });

  it("with an object in the query", () => {
    const schema = v.object({ id: v.number(), tag: v.optional(v.array(v.string())) });
    const inputs = { filter: Query.object("filter", schema) };
    const calls = `
      void api["GET /a"]({ query: { filter: { id: 1, tag: ["x"] } } });
      // @ts-expect-error: its id is missing.
      void api["GET /a"]({ query: { filter: {} } });`;
    expect(problemsOf([get(Path.of("a"), { inputs, returns: Returns.text }, () => "")], calls)).toBe("");
  });

  it("with an event with a literal that looks like a union, and with texts with any line end", () => {
    const word = Event.json("word", v.pipe(v.literal("} | {"), v.description("one\u2028}}}")));
    const named = Shape.named("named", v.pipe(v.object({ a: text }), v.description("one\u2028}}} two\u2029*/ three")));
    const returns = Returns.events([word, Event.json("named", named), Event.text("text")]);
    expect(problemsOf([get(Path.of("a"), { returns, summary: "a\u2028}}} */" }, () => async () => {})])).toBe("");
  });
});
