import { ok } from "../result.ts";
import type { Codec } from "./codec.ts";

/** Any text, as it is. */
export const string: Codec<string, string> = { parse: ok, print: (value) => value, text: { type: "string" } };
