import { H3, getRouterParam, getValidatedQuery, getValidatedRouterParams, readValidatedBody, serve } from "h3";
import { Item, Params, Search } from "./zod.mjs";

const app = new H3();
app.post("/u/:id", async (event) => {
  const { id } = await getValidatedRouterParams(event, Params);
  await getValidatedQuery(event, Search);
  await readValidatedBody(event, Item);
  return { id: String(id) };
});
app.get("/u/:id", async (event) => ({ id: String((await getValidatedRouterParams(event, Params)).id) }));
app.get("/t/:text", (event) => ({ id: getRouterParam(event, "text") }));
app.get("/t/me", () => ({ id: "the literal" }));
app.get("/raises", () => {
  throw new Error("db password is hunter2");
});

/** @returns {Promise<number>} */
export async function start() {
  const server = serve(app, { hostname: "127.0.0.1", port: 0, silent: true });
  await server.ready();
  return Number(new URL(server.url).port);
}
