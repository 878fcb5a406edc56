import { Codec, Dep, Result } from "usher-http";
import type { Pool } from "usher-http/postgres";
import * as v from "valibot";

export const database = Dep.ofResource<Pool>("database");

/** What PostgreSQL's text can hold: neither NUL nor half of a surrogate pair. */
const storable = /^[^\0\p{Cs}]*$/u;

/** Text in a body. */
export const text = v.pipe(v.string(), v.regex(storable, "This must be text."));

/** Text in a URL. */
export const urlText = Codec.custom({
  kind: "text",
  parse: (given) => (storable.test(given) ? Result.ok(given) : Result.error("This must be text.")),
  print: (value: string) => value,
});
