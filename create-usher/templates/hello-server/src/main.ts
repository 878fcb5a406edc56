import { Health, Openapi } from "usher-http";
import { serve } from "usher-http/node";
import { onError } from "./errors.ts";
import { routes } from "./routes.ts";

// In a container, HOST is 0.0.0.0: it must listen on every interface.
const { HOST = "localhost", PORT } = process.env;

// /docs describes the API; /livez and /readyz answer health checks.
const all = [...routes, ...Openapi.docs(routes, { title: "my-api", version: "1" }), ...Health.routes()];

// Resolves once it listens. SIGTERM and Ctrl-C stop it: it finishes the requests that it has, then the process ends.
await serve(all, { host: HOST, port: Number(PORT || 8080), onError });
