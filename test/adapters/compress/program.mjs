/** Serves the routes of `encoded-routes.mjs` on the runtime that it runs on: see `decompress-runtimes.test.ts`. */
import { options, routes } from "./encoded-routes.mjs";

const name = globalThis.Bun !== undefined ? "bun" : globalThis.Deno !== undefined ? "deno" : "node";
const { serve } = await import(`usher-http/${name}`);
const { port } = await serve(routes, { port: 0, host: "127.0.0.1", ...options });
console.log(JSON.stringify({ port }));
