/** Routes that read paths, queries, headers and cookies, one by one and together (rows IN, CD, CK). */
import * as v from "valibot";
import {
  Codec,
  Cookie,
  Dep,
  Header,
  Path,
  Query,
  Refusal,
  Returns,
  client,
  get,
  now,
  param,
  peer,
  refuse,
  request,
  requestId,
} from "usher-http";
import type { Route } from "usher-http";

const texts = Returns.json(v.array(v.string()));
const orderId = Path.int("order_id");

/** Every present value as text, and `-` for an absent one. */
function told(values: { readonly [name: string]: unknown }): string[] {
  return Object.values(values).map((value) => (value === undefined ? "-" : String(value)));
}

const signedOut = Refusal.code("signed_out", {
  status: 401,
  doc: "Nobody is signed in.",
  challenge: 'Bearer realm="api"',
});
const forbidden = Refusal.code("forbidden", { status: 403, doc: "It is not yours." });
const bearer = Dep.join(
  { credentials: Header.optional("authorization", Codec.credentials) },
  ({ credentials }) => {
    if (credentials?.scheme.toLowerCase() !== "bearer") return refuse(signedOut, "Sign in first.");
    return "signed in";
  },
  { refuses: [signedOut] },
);
const switchedOff = Dep.refuse(refuse(forbidden, "It is switched off."));

const books = ["Emma", "Middlemarch", "Persuasion", "Ulysses", "Walden"];
const pageOfBooks = Dep.join(
  { page: Query.default("page", Codec.int, 1), perPage: Query.default("per_page", Codec.int, 2) },
  ({ page, perPage }) => {
    if (page < 1) return Dep.problem({ at: "query.page", code: "too_small", message: "This is 1 or more." });
    return { from: (page - 1) * perPage, to: page * perPage };
  },
);

const page = Query.required("page", Codec.int);
let runs = 0;
const counted = Dep.map(page, (page) => `${page} ${++runs}`);

export const inputs: readonly Route[] = [
  get(
    Path.of("orders", orderId, "lines"),
    {
      inputs: {
        id: param(orderId),
        page: Query.required("page", Codec.int),
        count: Header.optional("x-count", Codec.int),
      },
      returns: texts,
    },
    told,
  ),
  get(
    Path.of("who"),
    {
      inputs: {
        q: Query.optional("q", Codec.string),
        thing: Header.optional("X-Thing", Codec.string),
        b: Cookie.optional(Cookie.named("b", Codec.string)),
        c: Cookie.optional(Cookie.named("c", Codec.string)),
      },
      returns: texts,
    },
    told,
  ),
  get(
    Path.of("page"),
    {
      inputs: { page: Query.default("page", Codec.int, 1), size: Header.default("x-size", Codec.int, 20) },
      returns: texts,
    },
    told,
  ),
  get(
    Path.of("typed"),
    {
      inputs: {
        tag: Query.list("tag", Codec.enum("colour", ["blue", "gold"])),
        loud: Query.optional("loud", Codec.bool),
        n: Cookie.optional(Cookie.named("n", Codec.int)),
      },
      returns: texts,
    },
    told,
  ),
  get(Path.of("count"), { inputs: { count: Header.required("x-count", Codec.int) }, returns: texts }, told),
  get(Path.of("value"), { inputs: { value: Header.optional("x-value", Codec.string) }, returns: texts }, told),
  get(Path.of("guarded"), { inputs: { page, bearer }, returns: texts }, told),
  get(Path.of("off"), { inputs: { page, switchedOff }, returns: texts }, told),
  get(Path.of("bearer"), { inputs: { bearer }, returns: Returns.text }, ({ bearer }) => bearer),
  get(
    Path.of("shared"),
    { inputs: { page, a: counted, b: counted }, returns: Returns.text },
    ({ page, a, b }) => `${page} ${a === b}`,
  ),
  get(Path.of("books"), { inputs: { range: pageOfBooks }, returns: texts }, ({ range: { from, to } }) =>
    books.slice(from, to),
  ),
  get(Path.of("id"), { inputs: { requestId, request }, returns: Returns.text }, ({ requestId, request }) =>
    String(requestId === request.id),
  ),
  get(Path.of("now"), { inputs: { now, request }, returns: Returns.text }, ({ now, request }) =>
    String(now === request.now),
  ),
  get(Path.of("peer"), { inputs: { peer }, returns: Returns.text }, ({ peer }) => peer),
  get(
    Path.of("client"),
    { inputs: { client, request }, returns: Returns.text },
    ({ client, request }) => `${client} ${request.host ?? "-"} ${request.secure ? "secure" : "plain"}`,
  ),
  get(Path.of("headers"), { inputs: { request }, returns: Returns.text }, ({ request }) =>
    [...request.headers].flatMap(([name, value]) => (name.startsWith("x-") ? [`${name}=${value}`] : [])).join("\n"),
  ),
  get(Path.of("cookie"), { inputs: { k: Cookie.optional(Cookie.named("k", Cookie.encoded)) }, returns: texts }, told),
];
