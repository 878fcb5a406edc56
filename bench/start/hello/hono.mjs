import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { tell } from "./tell.mjs";

const app = new Hono();
app.get("/", (c) => c.text("Hello."));
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => tell(port));
