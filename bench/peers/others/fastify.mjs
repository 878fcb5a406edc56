import fastify from "fastify";

const app = fastify({ ajv: { customOptions: { allErrors: true } } });
const params = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
const querystring = {
  type: "object",
  properties: { page: { type: "integer" }, limit: { type: "integer" }, sort: { type: "string", enum: ["up", "down"] } },
  required: ["page", "limit", "sort"],
};
const body = {
  type: "object",
  properties: { title: { type: "string", minLength: 1 }, count: { type: "integer", minimum: 1 } },
  required: ["title", "count"],
};
app.post("/u/:id", { schema: { params, querystring, body } }, async ({ params }) => ({ id: String(params.id) }));
app.get("/u/:id", { schema: { params } }, async ({ params }) => ({ id: String(params.id) }));
app.get("/t/:text", async ({ params }) => ({ id: params.text }));
app.get("/t/me", async () => ({ id: "the literal" }));
app.get("/raises", async () => {
  throw new Error("db password is hunter2");
});

/** @returns {Promise<number>} */
export async function start() {
  await app.listen({ host: "127.0.0.1", port: 0 });
  return app.server.address().port;
}
