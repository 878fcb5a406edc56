/** The routes of `conformance-routes.ts` on the runtime that it runs on: it prints the port. */
import { all } from "./conformance-routes.ts";

const runtime = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";
const { serve } =
  runtime === "bun"
    ? await import("usher-http/bun")
    : runtime === "deno"
      ? await import("usher-http/deno")
      : await import("usher-http/node");
const server = await serve(all, { port: 0, host: "127.0.0.1" });
console.log(`listening ${server.port}`);
