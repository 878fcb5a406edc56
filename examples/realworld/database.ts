import { Dep } from "usher-http";
import type { Pool } from "usher-http/postgres";
import * as v from "valibot";

export const database = Dep.ofResource<Pool>("database");

/** Text that PostgreSQL can keep: it has no NUL. */
export const text = v.pipe(v.string(), v.regex(/^[^\0]*$/, "This must be text."));

/** Such a text of so many characters at most: a list of a hundred articles has all of each. */
export const textUpTo = (most: number) => v.pipe(text, v.maxLength(most));

/** A number that fits PostgreSQL's `int`. */
export const wholeNumber = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 31 - 1));
