/** Run by a runtime: serves the routes of a thousand concurrent requests. */
import process from "node:process";
import * as usher from "../../src/index.ts";
import type { Serve } from "../support/spawned/routes.ts";
import { routesOf } from "./concurrent-routes.ts";

const runtime = process.argv[2];
const { serve } = (await import(`../../adapters/${runtime}/index.ts`)) as { readonly serve: Serve };
const server = await serve(routesOf(usher), { port: 0, host: "127.0.0.1", maxConnections: 2000 });
console.log(server.port);
