/** Where sessions are kept: on Node in the memory of the process, on Workers in Durable Objects of workerd. */
import { afterAll, beforeAll } from "vitest";
import { serve } from "usher-http/node";
import { workerOf } from "../../support/miniflare.ts";
import { sessionRoutes } from "./session-routes.ts";

/** Where a server runs. */
export interface Place {
  readonly url: string;
  readonly end: () => Promise<unknown>;
}

async function onNode(): Promise<Place> {
  const server = await serve(sessionRoutes, { port: 0 });
  return { url: `http://127.0.0.1:${server.port}`, end: () => server.stop() };
}

async function onWorkers(): Promise<Place> {
  const program = `
    import { mcpSessionClass, worker } from "usher-http/workers";
    import { sessionRoutes } from "./session-routes.ts";
    const handler = worker(sessionRoutes, (env) => ({ mcpSessions: env.MCP_SESSIONS }));
    export default handler;
    export const McpSession = mcpSessionClass(handler);
  `;
  const miniflare = await workerOf(program, import.meta.dirname, {
    durableObjects: { MCP_SESSIONS: { className: "McpSession", useSQLite: true } },
    compatibilityFlags: ["nodejs_als", "enable_request_signal"],
    handleRuntimeStdio: (stdout, stderr) => {
      stdout.resume();
      stderr.resume();
    },
  });
  return { url: (await miniflare.ready).origin, end: () => miniflare.dispose() };
}

export const places: readonly (readonly [name: string, start: () => Promise<Place>])[] = [
  ["Node", onNode],
  ["Workers", onWorkers],
];

/** Runs a place for the tests of a block. The result is the URL of a path there. */
export function startedFor(start: () => Promise<Place>): (path: string) => string {
  let place: Place;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.end());
  return (path) => `${place.url}${path}`;
}
