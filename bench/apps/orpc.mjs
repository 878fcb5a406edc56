import { OpenAPIHandler } from "@orpc/openapi/node";
import { os } from "@orpc/server";
import * as v from "valibot";
import { NewOrder, placed, sent } from "./order.mjs";

const params = v.object({ id: v.pipe(v.string(), v.regex(/^-?\d{1,15}$/), v.transform(Number)) });
const detailed = /** @type {const} */ ({ inputStructure: "detailed" });

const router = {
  // It answers text only as a file.
  text: os.route({ method: "GET", path: "/" }).handler(() => new Blob(["Hello."], { type: "text/plain" })),
  inputs: os
    .route({ method: "GET", path: "/id/{id}", ...detailed })
    .input(v.object({ params, query: v.object({ name: v.string() }), headers: v.object({ "x-tenant": v.string() }) }))
    .handler(({ input }) => ({ id: input.params.id, name: input.query.name, tenant: input.headers["x-tenant"] })),
  order: os
    .route({ method: "GET", path: "/orders/{id}", ...detailed })
    .input(v.object({ params }))
    .handler(({ input }) => placed(input.params.id, sent)),
  place: os
    .route({ method: "POST", path: "/orders", successStatus: 201 })
    .input(NewOrder)
    .handler(({ input }) => placed(7, input)),
};

/** @returns {import("node:http").RequestListener} */
export function listener() {
  const handler = new OpenAPIHandler(router);
  return async (request, response) => {
    const { matched } = await handler.handle(request, response);
    if (!matched) response.writeHead(404).end();
  };
}
