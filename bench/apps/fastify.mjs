import fastify from "fastify";
import { placed, sent } from "./order.mjs";
import { restRoutes } from "./rest-routes.mjs";

const text = { type: "string" };
const integer = { type: "integer" };
const order = {
  type: "object",
  properties: { id: integer, item: text, quantity: integer, placed_at: { type: "string", format: "date-time" } },
};

/** @param {object} [options] */
export function app(options) {
  const app = bare(options);
  addRoutes(app);
  return app;
}

/** An app whose routes come later: a plugin that looks at routes is registered before them. @param {object} [options] */
export function bare(options) {
  return fastify({ keepAliveTimeout: 60_000, ...options });
}

/** @param {import("fastify").FastifyInstance} app */
export function addRoutes(app) {
  app.get("/", () => "Hello.");
  app.get(
    "/id/:id",
    {
      schema: {
        params: { type: "object", properties: { id: integer }, required: ["id"] },
        querystring: { type: "object", properties: { name: text }, required: ["name"] },
        headers: { type: "object", properties: { "x-tenant": text }, required: ["x-tenant"] },
        response: { 200: { type: "object", properties: { id: integer, name: text, tenant: text } } },
      },
    },
    async ({ params, query, headers }) => ({ id: params.id, name: query.name, tenant: headers["x-tenant"] }),
  );
  app.get(
    "/orders/:id",
    { schema: { params: { type: "object", properties: { id: integer } }, response: { 200: order } } },
    async ({ params }) => placed(params.id, sent),
  );
  app.post(
    "/orders",
    {
      schema: {
        body: {
          type: "object",
          properties: { item: { ...text, minLength: 1, maxLength: 100 }, quantity: { ...integer, minimum: 1 } },
          required: ["item", "quantity"],
        },
        response: { 201: order },
      },
    },
    async ({ body }, reply) => {
      reply.code(201);
      return placed(7, body);
    },
  );
}

/** @param {number} count */
export function tableApp(count) {
  const app = fastify();
  for (const { method, segments } of restRoutes(count)) {
    const last = segments.at(-1);
    const handler = segments.includes(":id") ? async ({ params }) => params.id : async () => last;
    app.route({ method, url: `/${segments.join("/")}`, handler });
  }
  return app;
}
