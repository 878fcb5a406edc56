/** The same routes and calls for each framework: `POST /things<i>/:id?name=` with a body of three members. */

/**
 * @typedef {object} Program
 * @property {string} name
 * @property {(routes: number) => string} text
 */

/** @type {Readonly<Record<string, Program>>} */
export const programs = {
  usher: { name: "usher", text: usher },
  hono: { name: "Hono", text: hono },
  elysia: { name: "Elysia", text: elysia },
  orpc: { name: "oRPC", text: orpc },
  effect: { name: "Effect", text: effect },
};

/** @param {number} routes @param {(i: number) => string} textOf @param {string} [between] */
function each(routes, textOf, between = "\n") {
  return Array.from({ length: routes }, (_, i) => textOf(i)).join(between);
}

const callsTogether = 100;

/**
 * A function that makes all calls, by functions that make a hundred each: TypeScript follows no more than about two thousand
 * conditions in one function.
 *
 * @param {number} routes @param {(i: number) => string} textOf @param {"async " | ""} [kind]
 */
function calls(routes, textOf, kind = "async ") {
  const starts = Array.from({ length: Math.ceil(routes / callsTogether) }, (_, part) => part * callsTogether);
  const [nothing, texts, wait] =
    kind === "" ? ["void", "readonly string[]", ""] : ["Promise<void>", "Promise<readonly string[]>", "await "];
  const parts = starts.map(
    (start, part) => `${kind}function called${part}(seen: string[]): ${nothing} {
${each(Math.min(callsTogether, routes - start), (i) => textOf(start + i))}
}`,
  );
  return `${parts.join("\n")}
export ${kind}function called(): ${texts} {
  const seen: string[] = [];
${starts.map((_, part) => `  ${wait}called${part}(seen);`).join("\n")}
  return seen;
}`;
}

function usher(routes) {
  return `import { Client, Codec, Path, Query, Returns, json, param, post } from "usher-http";
import * as v from "valibot";
${each(
  routes,
  (i) => `const id${i} = Path.int("id");
const New${i} = v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.pipe(v.number(), v.integer()), note${i}: v.optional(v.string()) });
const Placed${i} = v.object({ id: v.number(), item: v.string(), quantity: v.number(), place${i}: v.string() });
const route${i} = post(
  Path.of("things${i}", id${i}),
  { inputs: { id: param(id${i}), name: Query.required("name", Codec.string), thing: json(New${i}) }, returns: Returns.json(Placed${i}) },
  ({ id, name, thing }) => ({ id, item: thing.item, quantity: thing.quantity, place${i}: name }),
);`,
)}
const all = [${each(routes, (i) => `route${i}`, ", ")}] as const;
const api = Client.of<typeof all>({ baseUrl: "" });
${calls(
  routes,
  (
    i,
  ) => `  const got${i} = await api["POST /things${i}/{id}"]({ path: { id: ${i} }, query: { name: "pen" }, json: { item: "pen", quantity: 1 } });
  if (got${i}.ok) seen.push(got${i}.value.place${i});`,
)}`;
}

/** An app of one chain, as Hono's client wants it; a hundred routes in each. */
function hono(routes) {
  const parts = Math.ceil(routes / 100);
  const of = (part) => Array.from({ length: Math.min(100, routes - part * 100) }, (_, i) => part * 100 + i);
  return `import { Hono } from "hono";
import { hc } from "hono/client";
import { validator } from "hono/validator";
import * as v from "valibot";
${each(
  routes,
  (i) =>
    `const New${i} = v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.pipe(v.number(), v.integer()), note${i}: v.optional(v.string()) });`,
)}
${each(
  parts,
  (part) => `const app${part} = new Hono()${of(part)
    .map(
      (i) => `
  .post("/things${i}/:id", validator("query", (value) => v.parse(v.object({ name: v.string() }), value)), validator("json", (value) => v.parse(New${i}, value)), (c) => {
    const thing = c.req.valid("json");
    return c.json({ id: Number(c.req.param("id")), item: thing.item, quantity: thing.quantity, place${i}: c.req.valid("query").name });
  })`,
    )
    .join("")};
const api${part} = hc<typeof app${part}>("");`,
)}
${calls(
  routes,
  (
    i,
  ) => `  const got${i} = await api${Math.floor(i / 100)}.things${i}[":id"].$post({ param: { id: "${i}" }, query: { name: "pen" }, json: { item: "pen", quantity: 1 } });
  if (got${i}.ok) seen.push((await got${i}.json()).place${i});`,
)}`;
}

/** A hundred routes in each app, and a client by the type of its routes. */
function elysia(routes) {
  const parts = Math.ceil(routes / 100);
  const of = (part) => Array.from({ length: Math.min(100, routes - part * 100) }, (_, i) => part * 100 + i);
  return `import { Elysia, t } from "elysia";
${each(
  parts,
  (part) => `const app${part} = new Elysia()${of(part)
    .map(
      (i) => `
  .post("/things${i}/:id", ({ params, query, body }) => ({ id: params.id, item: body.item, quantity: body.quantity, place${i}: query.name }), {
    params: t.Object({ id: t.Integer() }),
    query: t.Object({ name: t.String() }),
    body: t.Object({ item: t.String({ minLength: 1 }), quantity: t.Integer(), note${i}: t.Optional(t.String()) }),
  })`,
    )
    .join("")};
type Api${part} = typeof app${part}["~Routes"];`,
)}
${calls(
  routes,
  (
    i,
  ) => `  const got${i} = undefined as unknown as Api${Math.floor(i / 100)}["things${i}"][":id"]["post"]["response"][200];
  if (got${i} !== undefined) seen.push(got${i}.place${i});`,
  "",
)}`;
}

function orpc(routes) {
  return `import { createORPCClient } from "@orpc/client";
import type { RouterClient } from "@orpc/server";
import { os } from "@orpc/server";
import * as v from "valibot";
${each(
  routes,
  (
    i,
  ) => `const New${i} = v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.pipe(v.number(), v.integer()), note${i}: v.optional(v.string()) });
const route${i} = os
  .route({ method: "POST", path: "/things${i}/{id}", inputStructure: "detailed" })
  .input(v.object({ params: v.object({ id: v.number() }), query: v.object({ name: v.string() }), body: New${i} }))
  .handler(({ input }) => ({ id: input.params.id, item: input.body.item, quantity: input.body.quantity, place${i}: input.query.name }));`,
)}
const router = { ${each(routes, (i) => `route${i}`, ", ")} };
const api: RouterClient<typeof router> = createORPCClient({ call: async () => undefined });
${calls(
  routes,
  (
    i,
  ) => `  const got${i} = await api.route${i}({ params: { id: ${i} }, query: { name: "pen" }, body: { item: "pen", quantity: 1 } });
  seen.push(got${i}.place${i});`,
)}`;
}

function effect(routes) {
  return `import { Effect, Schema } from "effect";
import { HttpApi, HttpApiBuilder, HttpApiClient, HttpApiEndpoint, HttpApiGroup } from "effect/http-api";
${each(
  routes,
  (
    i,
  ) => `const New${i} = Schema.Struct({ item: Schema.String.check(Schema.isMinLength(1)), quantity: Schema.Number.check(Schema.isInt()), note${i}: Schema.optionalKey(Schema.String) });
const Placed${i} = Schema.Struct({ id: Schema.Number, item: Schema.String, quantity: Schema.Number, place${i}: Schema.String });
const route${i} = HttpApiEndpoint.post("route${i}", "/things${i}/:id", {
  params: { id: Schema.NumberFromString }, query: { name: Schema.String }, payload: New${i}, success: Placed${i},
});`,
)}
const group = HttpApiGroup.make("all")${routes === 0 ? "" : `.add(${each(routes, (i) => `route${i}`, ", ")})`};
const api = HttpApi.make("things").add(group);
export const handlers = HttpApiBuilder.group(api, "all", (handlers) =>
  handlers.handleAll({
${each(routes, (i) => `    route${i}: ({ params, query, payload }) => Effect.succeed({ id: params.id, item: payload.item, quantity: payload.quantity, place${i}: query.name }),`)}
  }),
);
export const called = Effect.gen(function* () {
  const client = yield* HttpApiClient.make(api);
  const seen: string[] = [];
${each(
  routes,
  (
    i,
  ) => `  const got${i} = yield* client.all.route${i}({ params: { id: ${i} }, query: { name: "pen" }, payload: { item: "pen", quantity: 1 } });
  seen.push(got${i}.place${i});`,
)}
  return [seen, client] as const;
});`;
}
