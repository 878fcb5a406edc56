// What a library exports of servers: each type is inferred.
import { serve as serveBun } from "usher-http/bun";
import { serve as serveDeno } from "usher-http/deno";
import { Mcp } from "usher-http/mcp";
import { listener, serve } from "usher-http/node";
import { script } from "usher-http/scalar";
import { whatwg } from "usher-http/whatwg";
import { worker } from "usher-http/workers";
import { app, routes } from "./routes.js";

export const serveNode = () => serve(routes, { port: 0 });
export const listenNode = () => listener(app);
export const onBun = () => serveBun(routes, { port: 0 });
export const onDeno = () => serveDeno(routes, { port: 0 });
export const onWorkers = worker(routes);
export const onWhatwg = whatwg(app);
export const page = script;
export const tools = Mcp.routes(routes, { name: "shop", version: "1" });
