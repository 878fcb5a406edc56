import type { Result } from "../result.ts";
import type { Codec } from "./codec.ts";
import { malformed } from "./malformed.ts";

const yes: Result<boolean, string> = { ok: true, value: true };
const no: Result<boolean, string> = { ok: true, value: false };
const neither = /* @__PURE__ */ malformed("true or false");

function parse(text: string): Result<boolean, string> {
  if (text === "true") return yes;
  return text === "false" ? no : neither;
}

/** `true` or `false`, in exactly these letters. */
export const bool: Codec<boolean, boolean> = {
  parse,
  print: (value) => (value ? "true" : "false"),
  text: { type: "boolean" },
};
