/** Tables of routes of every kind. */
import fc from "fast-check";
import {
  Codec,
  Cookie,
  Dep,
  Event,
  Form,
  Header,
  Path,
  Query,
  Refusal,
  Returns,
  Shape,
  Socket,
  body,
  bodyStream,
  json,
  multipart,
  now,
  request,
  route,
} from "usher-http";
import type { Inputs, Route } from "usher-http";
import * as v from "valibot";
import { cases } from "../schema/random-shapes.ts";

const word = fc.constantFrom("a", "b", "orders", "a-b", "c d", "é", "x.y", "{}");
const codecs: readonly unknown[] = [
  Codec.string,
  Codec.int,
  Codec.float,
  Codec.bool,
  Codec.uuid,
  Codec.instant,
  Codec.enum("sizes", ["small", "large"]),
  Codec.accept,
  v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)),
  v.pipe(v.string(), v.minLength(1), v.regex(/^[a-z]*$/)),
  v.union([v.literal("all"), v.boolean()]),
  Shape.int64,
];
const codec = fc.constantFrom(...(codecs as readonly Codec<unknown>[]));
const segment = fc.oneof(
  { weight: 3, arbitrary: word },
  fc
    .tuple(fc.constantFrom("id", "order_id", "order-id"), codec, fc.constantFrom(undefined, "next-route" as const))
    .map(([name, its, unparsed]) => Path.param(name, its, unparsed === undefined ? {} : { unparsed })),
);
const path = fc
  .uniqueArray(segment, { selector: (one) => (typeof one === "string" ? Symbol("literal") : one.name), maxLength: 4 })
  .map((segments): Path.Path => Path.of(...segments.map((one) => (typeof one === "string" ? Path.s(one) : one))));

/** A shape with a name or without. */
const shape: fc.Arbitrary<Shape> = fc.oneof(
  { weight: 6, arbitrary: cases.map((one) => one.shape) },
  {
    weight: 1,
    // Behind a pipe, for the name to be of this shape alone.
    arbitrary: fc
      .tuple(cases, fc.constantFrom("thing", "other thing", "item-1", "item-2"))
      .map(([one, name]) => Shape.named(name, v.pipe(one.shape, v.readonly()))),
  },
);

const anyInput: fc.Arbitrary<Dep<unknown, string, unknown>> = fc.oneof(
  fc.tuple(word, codec).map(([name, its]) => Query.required(name, its)),
  fc.tuple(word, codec).map(([name, its]) => Query.list(name, its)),
  fc.tuple(word, fc.integer()).map(([name, value]) => Query.default(name, Codec.int, value)),
  fc.tuple(fc.constantFrom("x-a", "X-A", "authorization"), codec).map(([name, its]) => Header.optional(name, its)),
  codec.map((its) => Cookie.optional(Cookie.named("session", its))),
  fc.constant(Dep.credential("bearer", Header.optional("authorization", Codec.credentials), { doc: "Who asks." })),
  fc.constant(Dep.credential("key", Query.required("key", Codec.string))),
  fc.constantFrom<Dep<unknown>>(
    now,
    request,
    Dep.ofRequest(() => 1, { needs: [{ custom: "the certificate" }] }),
  ),
);
const anyBody: fc.Arbitrary<Inputs> = fc.oneof(
  { weight: 3, arbitrary: shape.map((one): Inputs => ({ body: json(one) })) },
  fc.constantFrom<Inputs>(
    {},
    { body },
    { body: bodyStream({ max: 9, contentTypes: ["image/*", "text/csv"] }) },
    { body: multipart({ max: 9 }) },
  ),
  fc.tuple(word, codec).map(([name, its]): Inputs => ({
    one: Form.required(name, its),
    all: Form.list("all", its),
    file: Form.File.optional("file"),
  })),
);
const inputs = fc
  .tuple(fc.array(anyInput, { maxLength: 4 }), anyBody)
  .map(([some, its]): Inputs => ({ ...Object.fromEntries(some.entries()), ...its }));

const code = fc.constantFrom(
  Refusal.notFound,
  Refusal.code("gone", { status: 410, doc: "It is gone." }),
  Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Bearer" }),
);
const returns: fc.Arbitrary<Returns<never, unknown>> = fc.oneof(
  fc.constantFrom<Returns<never, unknown>>(
    Returns.text,
    Returns.html,
    Returns.empty(),
    Returns.response,
    Returns.responses({ 303: "Elsewhere.", 404: { doc: "A page.", contentTypes: ["text/html"] } }),
    Returns.emptyResponse({ 201: "Made.", 204: "Kept." }),
  ),
  shape.map((one) => Returns.json(one, { status: 201 })),
  shape.map((one) => Returns.jsonResponse(one, { 200: "There.", 202: "Later." })),
  fc.tuple(word, shape).map(([name, one]) => Returns.events([Event.json(name, one), Event.text("line")])),
  fc
    .tuple(shape, shape)
    .map(([one, other]) =>
      Returns.websocket(Socket.protocol({ client: Socket.json(one), server: Socket.json(other) })),
    ),
);

const anyRoute: fc.Arbitrary<Route> = fc
  .tuple(
    fc.constantFrom("GET", "GET", "POST", "PUT", "DELETE", "OPTIONS", "QUERY", "PROPFIND"),
    path,
    inputs,
    returns,
    fc.array(code, { maxLength: 2 }),
    fc.constantFrom({}, { summary: "A route", description: "At length.", tags: ["one", "two"] }),
  )
  .map(([method, its, read, answers, refuses, said]) =>
    route(method, its, { inputs: read, returns: answers, refuses, ...said }, (() => {}) as never),
  );

export const anyRoutes: fc.Arbitrary<readonly Route[]> = fc.array(anyRoute, { maxLength: 5 });
