import { Dep, Health, Openapi, SecureHeaders } from "usher-http";
import { serve } from "usher-http/node";
import { onError } from "./errors.ts";
import { memoryWall } from "./memory-wall.ts";
import { routes } from "./messages.ts";
import { pageRoutes } from "./page.ts";
import { wall } from "./wall.ts";

// In a container, HOST is 0.0.0.0: it must listen on every interface.
const { HOST = "localhost", PORT } = process.env;

// /docs describes the API; /livez and /readyz answer health checks.
const docs = Openapi.docs(routes, { title: "my-api", version: "1" });

// Resolves once it listens. SIGTERM and Ctrl-C stop it: it finishes the requests that it has, then the process ends.
await serve([...routes, ...pageRoutes, ...docs, ...Health.routes()], {
  host: HOST,
  port: Number(PORT || 8080),
  resources: [Dep.resource(wall, memoryWall())],
  secureHeaders: SecureHeaders.make(),
  onError,
});
