/** Percent-encoding in a form or a query: `%` and two hexadecimal digits are a byte, anything else is text. */
import { expect, it } from "vitest";
import { Codec, Form, Path, Query, Returns, Test, get, post } from "usher-http";
import * as v from "valibot";
import "../support/logs.ts";

const texts = Returns.json(v.array(v.string()));
const app = Test.app([
  post(Path.root, { inputs: { q: Form.list("q", Codec.string) }, returns: texts }, ({ q }) => q),
  get(Path.root, { inputs: { q: Query.list("q", Codec.string) }, returns: texts }, ({ q }) => q),
]);

const ascii = Array.from({ length: 0x80 }, (_, unit) => String.fromCharCode(unit));
// A byte above 0x7F alone is not UTF-8, and `&` ends the value.
const isAlone = (pair: string): boolean => !/^[89a-f][\da-f]$/i.test(pair) && !pair.includes("&");
/** A control character, a space or `#` cannot be in a request target. */
const isOfTarget = (pair: string): boolean => /^[\x21-\x7e]*$/.test(pair) && !pair.includes("#");

it.each(["a form", "a query"])(
  "%s is read as the platform's own parser reads it, whatever two characters are where digits should be",
  async (where) => {
    for (const first of ascii) {
      const pairs = ascii
        .map((second) => first + second)
        .filter((pair) => isAlone(pair) && (where === "a form" || isOfTarget(pair)));
      if (pairs.length === 0) continue;
      const sent = pairs.map((pair) => `q=%${pair}`).join("&");
      const { json } =
        where === "a form"
          ? await Test.call(app, "POST", "/", {
              body: sent,
              headers: { "content-type": "application/x-www-form-urlencoded" },
            })
          : await Test.call(app, "GET", `/?${sent}`);
      expect(json()).toEqual(new URLSearchParams(sent).getAll("q"));
    }
  },
);
