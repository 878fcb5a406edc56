import { Dep, Openapi } from "usher-http";
import { serve } from "usher-http/node";
import { maxBody } from "./import.ts";
import { routes } from "./routes.ts";
import { memoryStore, store } from "./store.ts";

const docs = Openapi.docs(routes, { title: "Orders", version: "1" });

await serve([...routes, ...docs], {
  port: Number(process.env["PORT"] ?? 8080),
  maxBody,
  resources: [Dep.resource(store, memoryStore())],
});
