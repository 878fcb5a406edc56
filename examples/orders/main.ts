import { Dep } from "usher-http";
import { serve } from "usher-http/node";
import { routes, store } from "./routes.ts";
import { memoryStore } from "./store.ts";

await serve(routes, {
  port: Number(process.env["PORT"] ?? 8080),
  resources: [Dep.resource(store, memoryStore())],
});
