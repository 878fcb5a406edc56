import { serve } from "@hono/node-server";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { Item, Params, Search } from "./zod.mjs";

const app = new Hono();
app.post("/u/:id", zValidator("param", Params), zValidator("query", Search), zValidator("json", Item), (c) =>
  c.json({ id: String(c.req.valid("param").id) }),
);
app.get("/u/:id", zValidator("param", Params), (c) => c.json({ id: String(c.req.valid("param").id) }));
app.get("/t/:text", (c) => c.json({ id: c.req.param("text") }));
app.get("/t/me", (c) => c.json({ id: "the literal" }));
app.get("/raises", () => {
  throw new Error("db password is hunter2");
});

/** @returns {Promise<number>} */
export function start() {
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => resolve(port));
  });
}
