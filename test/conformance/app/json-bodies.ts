/** Routes that read a JSON body (rows JB, PM). */
import * as v from "valibot";
import { Codec, Cookie, Dep, Path, Query, Refusal, Returns, Shape, json, patch, post, put, refuse } from "usher-http";
import type { Route } from "usher-http";

const Greeting = v.object({
  name: v.optional(v.string(), "nobody"),
  times: v.optional(v.pipe(v.number(), v.integer()), 1),
});
const Order = v.object({ item: v.string(), quantity: v.pipe(v.number(), v.integer(), v.minValue(1)) });
const Cart = v.object({ items: v.array(v.object({ count: v.pipe(v.number(), v.integer()) })) });
const Strict = v.strictObject({ a: v.string() });
const Note = v.object({ note: v.optional(v.string()) });
const Sorts = v.object({
  text: v.optional(v.pipe(v.string(), v.minLength(2), v.maxLength(5))),
  number: v.optional(v.pipe(v.number(), v.gtValue(0), v.maxValue(18))),
  flag: v.optional(v.boolean()),
  word: v.optional(v.picklist(["black", "white"])),
  pair: v.optional(v.tuple([v.number(), v.string()])),
  list: v.optional(v.array(v.number())),
  map: v.optional(v.record(v.string(), v.number())),
  date: v.optional(Shape.date),
  uuid: v.optional(Shape.uuid),
  instant: v.optional(Shape.instant),
  big: v.optional(Shape.int64),
});

const wrongShape = Refusal.code("wrong_shape", { status: 400, doc: "The greeting is none." });
const signedOut = Refusal.code("no_session", { status: 401, doc: "No session.", challenge: 'Cookie realm="t"' });
const session = Dep.join(
  { session: Cookie.optional(Cookie.named("session", Codec.string)) },
  ({ session }) => session ?? refuse(signedOut, "Sign in first."),
  { refuses: [signedOut] },
);

export const jsonBodies: readonly Route[] = [
  post(
    Path.of("echo"),
    { inputs: { greeting: json(Greeting) }, returns: Returns.json(Greeting, { status: 201 }) },
    ({ greeting }) => greeting,
  ),
  put(
    Path.of("echo"),
    { inputs: { greeting: json(Greeting) }, returns: Returns.json(Greeting) },
    ({ greeting }) => greeting,
  ),
  patch(
    Path.of("echo"),
    { inputs: { greeting: json(Greeting) }, returns: Returns.json(Greeting) },
    ({ greeting }) => greeting,
  ),
  post(Path.of("order"), { inputs: { order: json(Order) }, returns: Returns.json(Order) }, ({ order }) => order),
  post(Path.of("cart"), { inputs: { cart: json(Cart) }, returns: Returns.json(Cart) }, ({ cart }) => cart),
  post(Path.of("strict"), { inputs: { strict: json(Strict) }, returns: Returns.json(Strict) }, ({ strict }) => strict),
  post(Path.of("note"), { inputs: { note: json(Note) }, returns: Returns.json(Note) }, ({ note }) => note),
  post(Path.of("sorts"), { inputs: { sorts: json(Sorts) }, returns: Returns.json(Sorts) }, ({ sorts }) => sorts),
  post(
    Path.of("wrong"),
    { inputs: { greeting: json(Greeting, { refusal: [wrongShape, "Not a greeting."] }) }, returns: Returns.text },
    ({ greeting }) => greeting.name,
  ),
  post(
    Path.of("signed"),
    { inputs: { greeting: json(Greeting), session }, returns: Returns.text },
    ({ greeting, session }) => `${greeting.name} ${session}`,
  ),
  post(
    Path.of("paged"),
    { inputs: { page: Query.required("page", Codec.int), greeting: json(Greeting) }, returns: Returns.text },
    ({ page, greeting }) => `${page} ${greeting.name}`,
  ),
];
