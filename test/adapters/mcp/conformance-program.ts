/** The routes of `conformance-routes.ts` on the runtime that runs this file: it prints the port. */
import { conformanceRoutes } from "./conformance-routes.ts";
import { serve } from "../../support/serve-here.ts";

const server = await serve(conformanceRoutes, { port: 0, host: "127.0.0.1" });
console.log(`listening ${server.port}`);
