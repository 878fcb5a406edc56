/** A query is decoded like a form (WHATWG URL §5.1; decisions): the platform's own parser is the reference. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Codec, Path, Query, Returns, Test, get } from "usher-http";
import * as v from "valibot";
import { invalid } from "../support/refusals.ts";
import "../support/logs.ts";
import { codePoint } from "../support/code-point.ts";

const list = Query.list("q", Codec.string);
const first = Query.optional("q", Codec.string);
const told = get(
  Path.root,
  { inputs: { list, first }, returns: Returns.json(v.array(v.string())) },
  ({ list, first }) => [first ?? "-", ...list],
);
const app = Test.app([told]);

async function values(search: string): Promise<unknown> {
  const { status, body, json } = await Test.call(app, "GET", `/?${search}`);
  return status === 200 ? json() : body;
}

const notText = invalid(["query.q", "malformed", "This is not text."]);

describe("a query", () => {
  it.each([
    ["q=a+b", ["a b", "a b"]],
    ["q=a%2Bb", ["a+b", "a+b"]],
    ["q=a%20b", ["a b", "a b"]],
    ["q=a,b", ["a,b", "a,b"]],
    ["q=a;b", ["a;b", "a;b"]],
    ["q=a=b&q==", ["a=b", "a=b", "="]],
    ["q=%C3%A9", ["é", "é"]],
    ["%71=1&q=2", ["1", "1", "2"]],
    ["q%3D=1", ["-"]],
    ["+q=1&qq=2&q=3", ["3", "3"]],
    ["&&q=1&&", ["1", "1"]],
    ["q", ["", ""]],
    ["q&q=", ["", "", ""]],
    ["q=%", ["%", "%"]],
    ["q=%zz%4", ["%zz%4", "%zz%4"]],
    ["q=%25zz", ["%zz", "%zz"]],
    ["q=?/", ["?/", "?/"]],
    ["q=%00", ["\u0000", "\u0000"]],
  ])("%s → %j", async (search, expected) => {
    expect(await values(search)).toEqual(expected);
  });

  it.each(["q=%ff", "q=%C3", "q=%C3%28", "q=%ED%A0%80", "q=a%FFb%zz", "q=ok&q=%ff"])(
    "%s is no UTF-8, a 400",
    async (search) => {
      expect(await values(search)).toBe(notText);
    },
  );

  it("that is not UTF-8 is reported with the codec's message", async () => {
    const int = get(Path.root, { inputs: { n: Query.required("n", Codec.int) }, returns: Returns.text }, String);
    const { body } = await Test.call(Test.app([int]), "GET", "/?n=%ff");
    expect(body).toBe(invalid(["query.n", "malformed", "This is not a whole number."]));
  });

  it("reads back what URLSearchParams prints", async () => {
    const text = fc.string({ unit: codePoint }).filter((text) => text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1 }), async (texts) => {
        const printed = new URLSearchParams(texts.map((text) => ["q", text])).toString();
        expect(await values(printed)).toEqual([texts[0], ...texts]);
      }),
    );
  });
});

it("a query has the same values as in the platform's own parser", async () => {
  const piece = fc.constantFrom(
    "q",
    "=",
    "&",
    "+",
    "%71",
    "%3D",
    "%26",
    "%2B",
    "%25",
    "%",
    "%4",
    "%zz",
    "%C3%A9",
    " ",
    "a",
    ";",
    ",",
    "?",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
      async (search) => {
        const model = new URLSearchParams(`?${search}`).getAll("q");
        // "%", "a" and "a" together are not UTF-8, and the platform reads U+FFFD there.
        const expected = model.join().includes("\ufffd") ? notText : [model[0] ?? "-", ...model];
        expect(await values(search)).toEqual(expected);
      },
    ),
    { numRuns: 2000, examples: [["q=%aa"], ["q=1&q=%aa"]] },
  );
});
