/** The stores of sessions: on Node the memory of the process, on Workers Durable Objects of workerd. */
import { afterAll, beforeAll } from "vitest";
import { serve } from "usher-http/node";
import { workerOf } from "../../support/miniflare.ts";
import type { Miniflare } from "../../support/miniflare.ts";
import { sessionRoutes } from "./session-routes.ts";

/** The URL of a server. */
export interface Place {
  readonly url: string;
  readonly end: () => Promise<unknown>;
}

async function onNode(): Promise<Place> {
  const server = await serve(sessionRoutes, { port: 0 });
  return { url: `http://127.0.0.1:${server.port}`, end: () => server.stop() };
}

/** A Worker with the routes that a module of this folder exports, whose sessions are in Durable Objects. */
export function sessionWorker(
  module: string,
  routes: string,
  compatibilityFlags?: readonly string[],
): Promise<Miniflare> {
  const program = `
    import { mcpSessionClass, worker } from "usher-http/workers";
    import { ${routes} } from "./${module}";
    const handler = worker(${routes}, (env) => ({ mcpSessions: env.MCP_SESSIONS }));
    export default handler;
    export const McpSession = mcpSessionClass(handler);
  `;
  return workerOf(program, import.meta.dirname, {
    durableObjects: { MCP_SESSIONS: { className: "McpSession", useSQLite: true } },
    ...(compatibilityFlags === undefined ? {} : { compatibilityFlags }),
    // It prints a stack for each stream that a client leaves.
    handleRuntimeStdio: (stdout, stderr) => {
      stdout.resume();
      stderr.resume();
    },
  });
}

async function onWorkers(): Promise<Place> {
  const flags = ["nodejs_als", "enable_request_signal"];
  const miniflare = await sessionWorker("session-routes.ts", "sessionRoutes", flags);
  return { url: (await miniflare.ready).origin, end: () => miniflare.dispose() };
}

export const places: readonly (readonly [name: string, start: () => Promise<Place>])[] = [
  ["Node", onNode],
  ["Workers", onWorkers],
];

/** Runs a server for the tests of a file, or of a block. The result is the URL of a path there. */
export function startedFor(start: () => Promise<Place>): (path: string) => string {
  let place: Place;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.end());
  return (path) => `${place.url}${path}`;
}
