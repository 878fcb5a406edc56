/** Matching of paths: literals, parameters, those that pass on to the next route, rests (rows RT). */
import * as v from "valibot";
import { Answer, Codec, Path, Query, Result, Returns, del, get, param, post, request, route } from "usher-http";
import type { Middleware, Route } from "usher-http";

const name = Path.str("name");
const orderId = Path.int("order_id");
const userId = Path.int64("id");
const file = Path.rest("file");

const even = Codec.custom<number>({
  kind: "even",
  parse: (text) => (/^\d*[02468]$/.test(text) ? Result.ok(Number(text)) : Result.error("This is not an even number.")),
  print: String,
});

const number = Path.int("number", { unparsed: "next-route" });
const half = Path.param("n", even, { unparsed: "next-route" });
const whole = Path.param("n", even);
const first = Path.int("x", { unparsed: "next-route" });
const second = Path.int("y", { unparsed: "next-route" });
const p = Path.int("p", { unparsed: "next-route" });
const q = Path.str("q");
const r = Path.str("r");

const text = { returns: Returns.text };
const says = (text: string) => (): string => text;

/** Every application has these two: a route to check a connection with, and a route with a parameter. */
export const ok: Route = get(Path.of("ok"), { returns: Returns.text }, says("ok"));
export const hello: Route = get(
  Path.of("hello", name),
  { inputs: { name: param(name) }, returns: Returns.json(v.object({ name: v.string(), times: v.number() })) },
  ({ name }) => ({ times: 1, name }),
);

export const routing: readonly Route[] = [
  get(Path.root, { returns: Returns.text }, says("home")),
  del(Path.of("hello", name), { inputs: { name: param(name) }, returns: Returns.empty() }, () => undefined),
  get(Path.of("items", name), { inputs: { name: param(name) }, returns: Returns.text }, says("name")),
  get(Path.of("items", number), { inputs: { number: param(number) }, returns: Returns.text }, says("number")),
  get(Path.of("half", half), { inputs: { n: param(half) }, returns: Returns.text }, ({ n }) => String(n / 2)),
  get(Path.of("even", whole), { inputs: { n: param(whole) }, returns: Returns.text }, ({ n }) => String(n)),
  get(
    Path.of("orders", orderId),
    { inputs: { id: param(orderId) }, returns: Returns.json(v.number()) },
    ({ id }) => id,
  ),
  get(Path.of("users", userId), { inputs: { id: param(userId) }, returns: Returns.text }, ({ id }) => String(id)),
  get(Path.of("users", "me"), { returns: Returns.text }, says("me")),
  get(Path.of("pair", first), { inputs: { x: param(first) }, returns: Returns.text }, says("first")),
  get(Path.of("pair", second), { inputs: { y: param(second) }, returns: Returns.text }, says("second")),
  get(Path.of("rank", p, "b"), { inputs: { p: param(p) }, returns: Returns.text }, says("first")),
  get(Path.of("rank", q, r), { inputs: { q: param(q), r: param(r) }, returns: Returns.text }, says("second")),
  get(Path.of("static", file), { inputs: { file: param(file) }, returns: Returns.text }, ({ file }) => file.join("|")),
  get(Path.of("text", name), { inputs: { name: param(name) }, returns: Returns.json(v.string()) }, ({ name }) => name),
  get(Path.of("unread", orderId, name), { returns: Returns.text }, says("unread")),
  get(Path.of("unread", "rest", file), { inputs: { q: Query.optional("q", Codec.int) }, ...text }, says("unread rest")),
  get(Path.of("a b", "ü"), { returns: Returns.text }, says("a literal that is written encoded")),
  route("OPTIONS", Path.of("asked"), { returns: Returns.text }, says("my own")),
  get(Path.of("asked"), { returns: Returns.text }, says("asked")),
  get(Path.of("several"), { returns: Returns.text }, says("got")),
  post(Path.of("several"), { returns: Returns.text }, says("posted")),
  route("OPTIONS", Path.of("several"), { returns: Returns.text }, says("optioned")),
  route("PURGE", Path.of("purged"), { returns: Returns.text }, says("purged")),
  post(Path.of("later"), { returns: Returns.empty({ status: 202 }) }, () => undefined),
  get(Path.of("own"), { returns: Returns.response }, () => Answer.make("mine", { headers: [["x-mine", "1"]] })),
  get(Path.of("host"), { inputs: { request }, returns: Returns.text }, ({ request }) => request.host ?? "-"),
  get(Path.of("target"), { inputs: { request }, returns: Returns.text }, ({ request }) => request.target),
];

/** Answers in place of the routes below `/admin`, by the path or by its segments: both must agree with the router. */
export const guards: readonly Middleware[] = [
  (request, next) => (request.path.startsWith("/admin") ? Answer.make("guarded by its path") : next()),
  (request, next) => (request.segments[0] === "admin" ? Answer.make("guarded by its segments") : next()),
];

/** A rest at the root, and paths that it must not match (rows RT-07, RT-31 to RT-34). */
export const site: readonly Route[] = [
  get(Path.of(file), { inputs: { file: param(file) }, returns: Returns.text }, says("site")),
  get(Path.of("api", "users", q), { inputs: { q: param(q) }, returns: Returns.text }, says("user")),
  get(Path.of("api", "health"), { returns: Returns.text }, says("health")),
  post(Path.of("orders"), { returns: Returns.text }, says("ordered")),
  get(Path.of("admin", "users"), { returns: Returns.text }, says("every user")),
];
