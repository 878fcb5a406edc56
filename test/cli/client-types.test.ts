/** The types that `usher client` writes of shapes and codecs. */
import { describe, expect, it } from "vitest";
import { Codec, Path, Query, Returns, Shape, json, post } from "usher-http";
import * as v from "valibot";
import { clientModule } from "../../cli/client.ts";

const text = v.string();

/** What a client sends as JSON, and what it gets. */
function typesOf(shape: Shape): readonly (string | undefined)[] {
  const made = clientModule([
    post(Path.of("a"), { inputs: { a: json(shape) }, returns: Returns.json(shape) }, ({ a }) => a),
  ]);
  return [/\{ json: (.*) \} & CallOptions,/.exec(made)?.[1], /Succeeded<200, (.*)> \| RefusedAs</.exec(made)?.[1]];
}

describe("a shape", () => {
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

it("a codec of 64 bits takes a bigint", () => {
  const inputs = { exact: Query.required("exact", Codec.int64), whole: Query.required("whole", Codec.int) };
  const made = clientModule([post(Path.of("a"), { inputs, returns: Returns.text }, () => "")]);
  expect(made).toContain("{ query: { exact: number | bigint; whole: number } }");
});
