/** The page on validation: each row of its table of examples. */
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { Codec, Cookie, Header, Path, Query, Returns, Test, get } from "usher-http";
import type { Dep } from "usher-http";
import * as v from "valibot";

const page = readFileSync(new URL("../../docs/guides/validation.md", import.meta.url), "utf8");
const rows = [...page.matchAll(/^\| `((?:Query|Header|Cookie)\.[^`]+\))` \| `([^`]+)` \| (.+) \|$/gm)].map(
  ([, input = "", request = "", result = ""]) => [input, request, result] as const,
);

/** The value of an expression of the page. */
function inputOf(code: string): Dep<unknown> {
  const make = runInThisContext(`(Codec, Cookie, Header, Query, v) => ${code}`) as (
    ...names: unknown[]
  ) => Dep<unknown>;
  return make(Codec, Cookie, Header, Query, v);
}

describe("validation: the table of examples", () => {
  it("has a row for each kind of input", () => expect(rows.length).toBeGreaterThan(25));

  it.each(rows)("%s of %s gives %s", async (code, request, result) => {
    const read = get(Path.root, { inputs: { value: inputOf(code) }, returns: Returns.json(v.unknown()) }, ({ value }) =>
      value === undefined ? "nothing" : (JSON.parse(JSON.stringify(value)) as unknown),
    );
    const [name = "", value = ""] = request.split(": ");
    const headers = request.startsWith("?") ? [] : [[name, value] as const];
    const target = request.startsWith("?") ? `/${request}` : "/";
    const { status, json } = await Test.call(Test.app([read]), "GET", target, { headers });
    const [, problem, at] = /^`(\w+)` at `([^`]+)`$/.exec(result) ?? [];
    const expected = (): unknown =>
      result === "nothing" ? "nothing" : JSON.parse(/^`(.*)`$/.exec(result)?.[1] ?? "null");
    if (problem === undefined) expect([status, json()]).toEqual([200, expected()]);
    else
      expect([status, json()]).toEqual([
        400,
        expect.objectContaining({ problems: [expect.objectContaining({ at, code: problem })] }),
      ]);
  });
});
