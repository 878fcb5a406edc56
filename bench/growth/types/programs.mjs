/** The same routes and calls for each framework: `POST /things<i>/:id?name=` with a body of three members. */

/**
 * @typedef {object} Program
 * @property {string} name
 * @property {(routes: number) => Readonly<Record<string, string>>} files Their texts by name.
 */

/** @type {Readonly<Record<string, Program>>} */
export const programs = {
  usher: { name: "usher", files: usher },
  hono: { name: "Hono", files: hono },
  elysia: { name: "Elysia", files: elysia },
  orpc: { name: "oRPC", files: orpc },
  effect: { name: "Effect", files: effect },
};

/** @param {readonly number[]} numbers @param {(i: number) => string} textOf @param {string} [between] */
function each(numbers, textOf, between = "\n") {
  return numbers.map(textOf).join(between);
}

/** @param {number} count */
function numbersTo(count) {
  return Array.from({ length: count }, (_, i) => i);
}

const routesOfFile = 100;

/** @param {number} routes @returns {readonly (readonly number[])[]} The numbers of each file's routes. */
function parted(routes) {
  return Array.from({ length: Math.ceil(routes / routesOfFile) }, (_, part) => {
    const start = part * routesOfFile;
    return Array.from({ length: Math.min(routesOfFile, routes - start) }, (_, i) => start + i);
  });
}

/**
 * Files of a hundred routes, and a program that imports what each exports. For each use of a name, TypeScript goes through all
 * earlier declarations of the file. In one file of a thousand routes this takes more time than the types.
 *
 * @param {number} routes
 * @param {object} texts
 * @param {string} texts.imports What each file imports.
 * @param {(numbers: readonly number[], part: number) => string} texts.declared
 * @param {(i: number) => string} [texts.exported] A name of each route; without it a file exports `app<part>`.
 * @param {string} texts.program
 */
function inFiles(routes, { imports, declared, exported, program }) {
  const parts = parted(routes);
  const files = parts.map((numbers, part) => [`part${part}.ts`, `${imports}\n${declared(numbers, part)}`]);
  const imported = parts.map((numbers, part) => {
    const names = exported === undefined ? [`app${part}`] : numbers.map(exported);
    return `import { ${names.join(", ")} } from "./part${part}.js";\n`;
  });
  return { ...Object.fromEntries(files), "program.ts": imported.join("") + program };
}

/** @param {number} i The file of a route. */
function partOf(i) {
  return Math.floor(i / routesOfFile);
}

/**
 * A function that makes all calls, by functions that make those of a file each: TypeScript follows no more than about two thousand
 * conditions in one function.
 *
 * @param {number} routes @param {(i: number) => string} textOf @param {"async " | ""} [kind]
 */
function calls(routes, textOf, kind = "async ") {
  const [nothing, texts, wait] =
    kind === "" ? ["void", "readonly string[]", ""] : ["Promise<void>", "Promise<readonly string[]>", "await "];
  const parts = parted(routes).map(
    (numbers, part) => `${kind}function called${part}(seen: string[]): ${nothing} {
${each(numbers, textOf)}
}`,
  );
  return `${parts.join("\n")}
export ${kind}function called(): ${texts} {
  const seen: string[] = [];
${each([...parts.keys()], (part) => `  ${wait}called${part}(seen);`)}
  return seen;
}`;
}

function usher(routes) {
  return inFiles(routes, {
    imports: `import { Codec, Path, Query, Returns, json, param, post } from "usher-http";
import * as v from "valibot";`,
    declared: (numbers) =>
      each(
        numbers,
        (i) => `const id${i} = Path.int("id");
const New${i} = v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.pipe(v.number(), v.integer()), note${i}: v.optional(v.string()) });
const Placed${i} = v.object({ id: v.number(), item: v.string(), quantity: v.number(), place${i}: v.string() });
export const route${i} = post(
  Path.of("things${i}", id${i}),
  { inputs: { id: param(id${i}), name: Query.required("name", Codec.string), thing: json(New${i}) }, returns: Returns.json(Placed${i}) },
  ({ id, name, thing }) => ({ id, item: thing.item, quantity: thing.quantity, place${i}: name }),
);`,
      ),
    exported: (i) => `route${i}`,
    program: `import { Client } from "usher-http";
const all = [${each(numbersTo(routes), (i) => `route${i}`, ", ")}] as const;
const api = Client.of<typeof all>({ baseUrl: "" });
${calls(
  routes,
  (
    i,
  ) => `  const got${i} = await api["POST /things${i}/{id}"]({ path: { id: ${i} }, query: { name: "pen" }, json: { item: "pen", quantity: 1 } });
  if (got${i}.ok) seen.push(got${i}.value.place${i});`,
)}`,
  });
}

/** An app of one chain in each file, as Hono's client wants it. */
function hono(routes) {
  return inFiles(routes, {
    imports: `import { Hono } from "hono";
import { validator } from "hono/validator";
import * as v from "valibot";`,
    declared: (numbers, part) => `${each(
      numbers,
      (i) =>
        `const New${i} = v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.pipe(v.number(), v.integer()), note${i}: v.optional(v.string()) });`,
    )}
export const app${part} = new Hono()${each(
      numbers,
      (i) => `
  .post("/things${i}/:id", validator("query", (value) => v.parse(v.object({ name: v.string() }), value)), validator("json", (value) => v.parse(New${i}, value)), (c) => {
    const thing = c.req.valid("json");
    return c.json({ id: Number(c.req.param("id")), item: thing.item, quantity: thing.quantity, place${i}: c.req.valid("query").name });
  })`,
      "",
    )};`,
    program: `import { hc } from "hono/client";
${each([...parted(routes).keys()], (part) => `const api${part} = hc<typeof app${part}>("");`)}
${calls(
  routes,
  (
    i,
  ) => `  const got${i} = await api${partOf(i)}.things${i}[":id"].$post({ param: { id: "${i}" }, query: { name: "pen" }, json: { item: "pen", quantity: 1 } });
  if (got${i}.ok) seen.push((await got${i}.json()).place${i});`,
)}`,
  });
}

/** An app in each file, and a client by the type of its routes. */
function elysia(routes) {
  return inFiles(routes, {
    imports: 'import { Elysia, t } from "elysia";',
    declared: (numbers, part) =>
      `export const app${part} = new Elysia()${each(
        numbers,
        (i) => `
  .post("/things${i}/:id", ({ params, query, body }) => ({ id: params.id, item: body.item, quantity: body.quantity, place${i}: query.name }), {
    params: t.Object({ id: t.Integer() }),
    query: t.Object({ name: t.String() }),
    body: t.Object({ item: t.String({ minLength: 1 }), quantity: t.Integer(), note${i}: t.Optional(t.String()) }),
  })`,
        "",
      )};`,
    program: `${each([...parted(routes).keys()], (part) => `type Api${part} = typeof app${part}["~Routes"];`)}
${calls(
  routes,
  (i) => `  const got${i} = undefined as unknown as Api${partOf(i)}["things${i}"][":id"]["post"]["response"][200];
  if (got${i} !== undefined) seen.push(got${i}.place${i});`,
  "",
)}`,
  });
}

function orpc(routes) {
  return inFiles(routes, {
    imports: `import { os } from "@orpc/server";
import * as v from "valibot";`,
    declared: (numbers) =>
      each(
        numbers,
        (
          i,
        ) => `const New${i} = v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.pipe(v.number(), v.integer()), note${i}: v.optional(v.string()) });
export const route${i} = os
  .route({ method: "POST", path: "/things${i}/{id}", inputStructure: "detailed" })
  .input(v.object({ params: v.object({ id: v.number() }), query: v.object({ name: v.string() }), body: New${i} }))
  .handler(({ input }) => ({ id: input.params.id, item: input.body.item, quantity: input.body.quantity, place${i}: input.query.name }));`,
      ),
    exported: (i) => `route${i}`,
    program: `import { createORPCClient } from "@orpc/client";
import type { RouterClient } from "@orpc/server";
const router = { ${each(numbersTo(routes), (i) => `route${i}`, ", ")} };
const api: RouterClient<typeof router> = createORPCClient({ call: async () => undefined });
${calls(
  routes,
  (
    i,
  ) => `  const got${i} = await api.route${i}({ params: { id: ${i} }, query: { name: "pen" }, body: { item: "pen", quantity: 1 } });
  seen.push(got${i}.place${i});`,
)}`,
  });
}

function effect(routes) {
  const numbers = numbersTo(routes);
  return inFiles(routes, {
    imports: `import { Schema } from "effect";
import { HttpApiEndpoint } from "effect/http-api";`,
    declared: (numbers) =>
      each(
        numbers,
        (
          i,
        ) => `const New${i} = Schema.Struct({ item: Schema.String.check(Schema.isMinLength(1)), quantity: Schema.Number.check(Schema.isInt()), note${i}: Schema.optionalKey(Schema.String) });
const Placed${i} = Schema.Struct({ id: Schema.Number, item: Schema.String, quantity: Schema.Number, place${i}: Schema.String });
export const route${i} = HttpApiEndpoint.post("route${i}", "/things${i}/:id", {
  params: { id: Schema.NumberFromString }, query: { name: Schema.String }, payload: New${i}, success: Placed${i},
});`,
      ),
    exported: (i) => `route${i}`,
    program: `import { Effect } from "effect";
import { HttpApi, HttpApiBuilder, HttpApiClient, HttpApiGroup } from "effect/http-api";
const group = HttpApiGroup.make("all")${routes === 0 ? "" : `.add(${each(numbers, (i) => `route${i}`, ", ")})`};
const api = HttpApi.make("things").add(group);
export const handlers = HttpApiBuilder.group(api, "all", (handlers) =>
  handlers.handleAll({
${each(numbers, (i) => `    route${i}: ({ params, query, payload }) => Effect.succeed({ id: params.id, item: payload.item, quantity: payload.quantity, place${i}: query.name }),`)}
  }),
);
export const called = Effect.gen(function* () {
  const client = yield* HttpApiClient.make(api);
  const seen: string[] = [];
${each(
  numbers,
  (
    i,
  ) => `  const got${i} = yield* client.all.route${i}({ params: { id: ${i} }, query: { name: "pen" }, payload: { item: "pen", quantity: 1 } });
  seen.push(got${i}.place${i});`,
)}
  return [seen, client] as const;
});`,
  });
}
