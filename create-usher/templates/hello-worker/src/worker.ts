import { Health, Openapi } from "usher-http";
import { worker } from "usher-http/workers";
import { onError } from "./errors.ts";
import { routes } from "./routes.ts";

// /docs describes the API; /livez and /readyz answer health checks.
const all = [...routes, ...Openapi.docs(routes, { title: "my-api", version: "1" }), ...Health.routes()];

export default worker(all, { onError });
