/** A browser sends every empty control: such a field is absent, unless its type has an empty text. */
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import { z } from "zod";
import { Codec, Form, Path, Returns, Test, post } from "usher-http";
import type { Dep } from "usher-http";
import "../support/logs.ts";

/** What a handler gets of one field, as JSON; or the problems. */
async function read(input: Dep<unknown, never, unknown>, body: string | FormData): Promise<unknown> {
  const route = post(Path.of("x"), { inputs: { given: input }, returns: Returns.text }, ({ given }) =>
    JSON.stringify({ given }),
  );
  const headers = typeof body === "string" ? { "content-type": "application/x-www-form-urlencoded" } : {};
  const { json } = await Test.call(Test.app([route]), "POST", "/x", { body, headers });
  const answer = json() as { given?: unknown; problems?: readonly { at: string; code: string }[] };
  return answer.problems === undefined
    ? (answer.given ?? "absent")
    : answer.problems.map(({ at, code }) => `${at} ${code}`);
}

const absent = "absent";
const needed = ["form.f required"];
const rows: readonly (readonly [what: string, input: Dep<unknown, never, unknown>, empty: unknown])[] = [
  ["an optional number", Form.optional("f", Codec.int), absent],
  ["an optional date", Form.optional("f", Codec.date), absent],
  ["an optional yes or no", Form.optional("f", Codec.bool), absent],
  ["an optional number by a schema", Form.optional("f", v.number()), absent],
  ["an optional number by zod", Form.optional("f", z.coerce.number().min(1)), absent],
  ["an optional word", Form.optional("f", v.picklist(["a", "b"])), absent],
  ["an optional word that may be empty", Form.optional("f", v.picklist(["", "b"])), ""],
  ["an optional text", Form.optional("f", Codec.string), ""],
  ["an optional text by a schema", Form.optional("f", v.string()), ""],
  ["an optional mail address", Form.optional("f", v.pipe(v.string(), v.email())), absent],
  ["a number with a default", Form.default("f", Codec.int, 5), 5],
  ["a text with a default", Form.default("f", Codec.string, "x"), ""],
  ["a required number", Form.required("f", Codec.int), needed],
  ["a required number by a schema", Form.required("f", v.number()), needed],
  ["a required text", Form.required("f", Codec.string), ""],
  ["a required text of a least length", Form.required("f", v.pipe(v.string(), v.minLength(1))), ["form.f too_short"]],
  ["a list of numbers", Form.list("f", Codec.int), []],
  ["a list of texts", Form.list("f", Codec.string), [""]],
  ["a list that needs a number", Form.list("f", Codec.int, { minItems: 1 }), ["form.f too_few"]],
  ["a checkbox", Form.checked("f"), true],
];

describe("an empty field of a form", () => {
  it.each(rows)("is read as %s", async (_what, input, expected) => {
    const form = new FormData();
    form.append("f", "");
    expect([await read(input, "f="), await read(input, form)]).toEqual([expected, expected]);
  });

  it("between others is left out of a list of numbers, and of no list of texts", async () => {
    expect(await read(Form.list("f", Codec.int), "f=1&f=&f=2")).toEqual([1, 2]);
    expect(await read(Form.list("f", Codec.string), "f=1&f=&f=2")).toEqual(["1", "", "2"]);
  });

  it("that is not empty is still a problem, white space too", async () => {
    expect(await read(Form.optional("f", Codec.int), "f=+")).toEqual(["form.f malformed"]);
    expect(await read(Form.default("f", Codec.int, 5), "f=x")).toEqual(["form.f malformed"]);
    expect(await read(Form.optional("f", Codec.int), "f=%FF")).toEqual(["form.f malformed"]);
  });
});
