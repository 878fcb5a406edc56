import { Elysia, t } from "elysia";

const app = new Elysia()
  .post("/u/:id", ({ params }) => ({ id: String(params.id) }), {
    params: t.Object({ id: t.Integer() }),
    query: t.Object({ page: t.Integer(), limit: t.Integer(), sort: t.Union([t.Literal("up"), t.Literal("down")]) }),
    body: t.Object({ title: t.String({ minLength: 1 }), count: t.Integer({ minimum: 1 }) }),
  })
  .get("/u/:id", ({ params }) => ({ id: String(params.id) }), { params: t.Object({ id: t.Integer() }) })
  .get("/t/:text", ({ params }) => ({ id: params.text }))
  .get("/t/me", () => ({ id: "the literal" }))
  .get("/raises", () => {
    throw new Error("db password is hunter2");
  });

/** @returns {Promise<number>} */
export async function start() {
  app.listen({ hostname: "127.0.0.1", port: 0 });
  return app.server?.port ?? 0;
}
