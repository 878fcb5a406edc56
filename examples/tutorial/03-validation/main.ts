import { serve } from "usher-http/node";
import { routes } from "./routes.ts";

await serve(routes, { port: 8080 });
