import { Dep } from "usher-http";
import { serve } from "usher-http/node";
import { maxBody } from "./import.ts";
import { routes } from "./routes.ts";
import { memoryStore, store } from "./store.ts";

await serve(routes, {
  port: Number(process.env["PORT"] ?? 8080),
  maxBody,
  resources: [Dep.resource(store, memoryStore())],
});
