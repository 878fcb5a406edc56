import { Hono } from "hono";
import { invoke } from "./lambda.mjs";

const app = new Hono();
app.get("/", (c) => c.text("Hello."));
await invoke(app.fetch);
