/** Texts read by schemas: the values of their inputs, what a client sends, and what the compiler must refuse. */
import * as v from "valibot";
import * as z from "zod";
import { Client, Codec, Cookie, Form, Header, Keys, Path, Query, Returns, Shape, get, param, post } from "usher-http";
import type { Dep, ListOptions, TextKind, TextOptions, TextSchema } from "usher-http";

const limit = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100));
const size = v.picklist(["small", "large"]);
const length = v.pipe(
  v.string(),
  v.transform((text) => text.length),
);
const year = Path.param("year", limit, { doc: "Of the report.", example: 20 });
const small = Path.param("id", Shape.int64, { unparsed: "next-route" });
const theme = Cookie.named("theme", size, { doc: "How it looks.", example: "small" });
const seen = Cookie.signed(Keys.ring("k".repeat(43)), "seen", Shape.instant, { doc: "When.", deprecated: true });

const report = get(
  Path.of("reports", year, small),
  {
    inputs: {
      year: param(year),
      id: param(small),
      limit: Query.default("limit", limit, 20, { doc: "How many.", example: 50, examples: [1, 100] }),
      sizes: Query.list("size", size, { minItems: 1, maxItems: 2, example: ["small"] }),
      since: Query.optional("since", Shape.instant, { example: "2026-09-30T12:00:00Z" }),
      length: Query.required("length", length),
      tags: Header.list("x-tag", limit),
      retry: Header.optional("x-retry", v.boolean()),
      theme: Cookie.optional(theme),
      seen: Cookie.required(seen),
    },
    returns: Returns.text,
  },
  ({ year, id, limit, sizes, since, length, tags, retry, theme, seen }) => {
    const numbers: readonly number[] = [year, limit, length, ...tags];
    const exact: bigint = id;
    const words: readonly ("small" | "large")[] = sizes;
    const word: "small" | "large" | undefined = theme;
    const times: readonly (Date | undefined)[] = [since, seen];
    const again: boolean | undefined = retry;
    return `${numbers} ${exact} ${words} ${word} ${times} ${again}`;
  },
);
const upload = post(
  Path.of("uploads"),
  {
    inputs: {
      title: Form.required("title", v.pipe(v.string(), v.minLength(1)), { example: "Holiday" }),
      count: Form.default("count", limit, 1),
      tags: Form.list("tag", size, { maxItems: 3 }),
      news: Form.checked("news", { doc: "Whether to write." }),
      pictures: Form.File.list("picture", { minItems: 1, doc: "At least one." }),
    },
    returns: Returns.text,
  },
  ({ title, count }) => title + count.toFixed(),
);

/** A helper over any codec or schema. */
export const filter = <A, S>(kind: TextKind<A, S>, about?: TextOptions) => Query.optional("filter", kind, about as {});
/** A helper over any codec. */
export const filterBy = <A>(codec: Codec<A>, about?: ListOptions<string>) => Query.list("filter", codec, about);
/** A helper over any schema of a text. */
export const filterOf = <A>(schema: TextSchema<A>) => Query.default("filter", schema, undefined as A);
const filtered: Dep<number | undefined> = filter(limit, { example: 5 });
const filteredBy: Dep<readonly number[]> = filterBy(Codec.int, { example: ["5"] });
const filteredOf: Dep<number> = filterOf(limit);
void [filtered, filteredBy, filteredOf];

export async function called(): Promise<void> {
  const api = Client.of<readonly [typeof report, typeof upload]>({ baseUrl: "" });
  const path = { year: 20, id: "9223372036854775807" };
  await api["GET /reports/{year}/{id}"]({
    path,
    query: { limit: 5, size: ["small"], since: "2026-09-30T12:00:00Z", length: "abc" },
    headers: { "x-tag": [1, 2], "x-retry": true },
  });
  // @ts-expect-error the schema's JSON is a number
  await api["GET /reports/{year}/{id}"]({ path, query: { length: "abc", limit: "5" } });
  // @ts-expect-error the schema's JSON is a text, and its value is a number
  await api["GET /reports/{year}/{id}"]({ path, query: { length: 3 } });
  // @ts-expect-error a word that the schema does not have
  await api["GET /reports/{year}/{id}"]({ path, query: { length: "", size: ["medium"] } });
  // @ts-expect-error length must be sent
  await api["GET /reports/{year}/{id}"]({ path, query: {} });
  await api["POST /uploads"]({ form: { title: "a", count: 2, tag: ["large"], picture: [new Blob()] } });
  // @ts-expect-error a number
  await api["POST /uploads"]({ form: { title: "a", count: "2" } });
}

Cookie.make(theme, "large");
// @ts-expect-error a word that the schema does not have
Cookie.make(theme, "medium");
Path.url(Path.of("reports", year), { year: 20 });
// @ts-expect-error of another type
Path.url(Path.of("reports", year), { year: "20" });

// The platform writes a `Date` as an instant, so a client gives the text of any other form.
const modified = Query.required("since", Codec.httpDate, { example: "Sun, 06 Nov 1994 08:49:37 GMT" });
const since: Dep<Date, never, { query: { since: string } }> = modified;
void since;

// @ts-expect-error an object is not one text
Query.required("x", v.object({ a: v.string() }));
// @ts-expect-error a list is not one text
Query.required("x", v.array(v.string()));
// @ts-expect-error an object of texts has no objects
Query.object("x", v.object({ a: v.object({ b: v.string() }) }));
// @ts-expect-error a list is no object
Query.object("x", v.array(v.string()));
// @ts-expect-error an example is what is sent
Query.object("x", v.object({ a: v.number() }), { example: { a: "1" } });
// @ts-expect-error Query.list takes the schema of one item
Query.list("x", v.array(v.string()));
// @ts-expect-error a text is never null
Header.required("x", v.nullable(v.string()));
// @ts-expect-error Query.optional says it
Query.required("x", v.optional(v.string()));
// @ts-expect-error a bigint is Shape.int64
Form.required("x", v.bigint());
// @ts-expect-error an object is not one text
Cookie.named("x", v.object({}));
// @ts-expect-error a tuple is not one text
Path.param("x", v.tuple([v.string()]));
// @ts-expect-error a default of another type
Query.default("x", limit, "20");
// @ts-expect-error a default is a value, and not what is sent
Query.default("x", length, "abc");
// @ts-expect-error an example is what is sent, and not the value
Query.required("x", length, { example: 3 });
// @ts-expect-error an example of another type
Query.required("x", Codec.int, { example: "3" });
// @ts-expect-error an example of a list is a list
Query.list("x", Codec.int, { example: 3 });
// @ts-expect-error only a list has bounds of its length
Query.required("x", Codec.int, { maxItems: 3 });
// @ts-expect-error a path parameter has its own type
Path.int("x", { example: "3" });

// A schema of another library gets the text itself, and gives its output.
const counted = Query.required("x", z.coerce.number(), { example: "5" });
const coloured = Query.list("x", z.enum(["blue", "gold"]), { example: ["blue"] });
const long = Header.optional(
  "x",
  z.string().transform((text) => text.length),
);
const both: Dep<number, never, { query: { x: string } }> = counted;
const colours: Dep<readonly ("blue" | "gold")[], never, { query?: { x?: readonly ("blue" | "gold")[] | undefined } }> =
  coloured;
const lengthOf: Dep<number | undefined, never, { headers?: { x?: string | undefined } }> = long;
void [both, colours, lengthOf];
// @ts-expect-error the text is not a number
Query.required("x", z.number());
// @ts-expect-error the text is not an object
Form.required("x", z.object({ a: z.string() }));
// @ts-expect-error the text is not true or false
Header.required("x", z.boolean());
// @ts-expect-error the text is not a number
Path.param("x", z.number());
