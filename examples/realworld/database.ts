import { Codec, Dep, Result } from "usher-http";
import type { Pool } from "usher-http/postgres";
import * as v from "valibot";

export const database = Dep.ofResource<Pool>("database");

/** PostgreSQL's text cannot contain NUL. */
const storable = /^[^\0]*$/;

/** Text in a body. */
export const text = v.pipe(v.string(), v.regex(storable, "This must be text."));

/** Text in a URL. */
export const urlText = Codec.custom({
  kind: "text",
  parse: (given) => (storable.test(given) ? Result.ok(given) : Result.error("This must be text.")),
  print: (value: string) => value,
});
