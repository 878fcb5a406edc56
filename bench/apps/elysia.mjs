import { Elysia, t } from "elysia";
import { placed, sent } from "./order.mjs";

/** @param {{ ids?: boolean }} [options] Whether each response has an id, like usher's. */
export function app({ ids = false } = {}) {
  const bare = new Elysia();
  const withIds = ({ set }) => {
    set.headers["x-request-id"] = crypto.randomUUID();
  };
  return (ids ? bare.onRequest(withIds) : bare)
    .get("/", () => "Hello.")
    .get(
      "/id/:id",
      ({ params, query, headers }) => ({ id: params.id, name: query.name, tenant: headers["x-tenant"] }),
      {
        params: t.Object({ id: t.Integer() }),
        query: t.Object({ name: t.String() }),
        headers: t.Object({ "x-tenant": t.String() }),
      },
    )
    .get("/orders/:id", ({ params }) => placed(params.id, sent), { params: t.Object({ id: t.Integer() }) })
    .post(
      "/orders",
      ({ body, set }) => {
        set.status = 201;
        return placed(7, body);
      },
      {
        body: t.Object({
          item: t.String({ minLength: 1, maxLength: 100 }),
          quantity: t.Integer({ minimum: 1 }),
        }),
      },
    );
}
