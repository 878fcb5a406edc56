/** Failures around a request, on the runtime that runs this file. It writes what it observed as a line of JSON. */
import type { serve as Serve } from "usher-http/node";
import { saidBy } from "./scoped-ends.ts";
import { begin, commit, events, expected, realTimeout, routes, warnings } from "./scoped-routes.ts";

const adapter = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";
const { serve } = (await import(`usher-http/${adapter}`)) as { readonly serve: typeof Serve };
const server = await serve(routes, { port: 0, signals: false, drainMs: 0 });

const seen: { [path: string]: unknown } = {};
for (const { method, pattern } of routes) {
  const path = pattern.slice(1);
  begin(path);
  // If a connection is cut, Bun's client rejects before it returns the response, and sends a GET again.
  const response = await fetch(`${server.url}${pattern}`, { method }).catch(() => undefined);
  const body = (await response?.text().catch(() => undefined)) ?? "cut";
  if (path === "commit") commit.open();
  while (events.length + warnings().length < (expected[path] ?? 1))
    await new Promise((resolve) => realTimeout(resolve, 1));
  seen[path] = [saidBy(body), [...events], warnings()];
}
await server.stop();
console.log(JSON.stringify(seen));
