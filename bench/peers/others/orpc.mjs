import { createServer } from "node:http";
import { OpenAPIHandler } from "@orpc/openapi/node";
import { os } from "@orpc/server";
import { Item, Params, Search, Text, z } from "./zod.mjs";

const router = {
  place: os
    .route({ method: "POST", path: "/u/{id}", inputStructure: "detailed" })
    .input(z.object({ params: Params, query: Search, body: Item }))
    .handler(({ input }) => ({ id: String(input.params.id) })),
  find: os
    .route({ method: "GET", path: "/u/{id}", inputStructure: "detailed" })
    .input(z.object({ params: Params }))
    .handler(({ input }) => ({ id: String(input.params.id) })),
  text: os
    .route({ method: "GET", path: "/t/{text}", inputStructure: "detailed" })
    .input(z.object({ params: Text }))
    .handler(({ input }) => ({ id: input.params.text })),
  me: os.route({ method: "GET", path: "/t/me" }).handler(() => ({ id: "the literal" })),
  raises: os.route({ method: "GET", path: "/raises" }).handler(() => {
    throw new Error("db password is hunter2");
  }),
};
const handler = new OpenAPIHandler(router);

/** @returns {Promise<number>} */
export function start() {
  const server = createServer(async (request, response) => {
    const { matched } = await handler.handle(request, response);
    if (!matched) response.writeHead(404).end();
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
}
