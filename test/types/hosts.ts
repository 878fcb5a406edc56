/** `app.fetch` as a handler of other programs: it accepts every second argument, and a connection stays typed. */
import { App } from "usher-http";

const app = App.make([]);
const request = new Request("http://localhost/");

/** Next.js: a route handler gets a context. */
export const GET: (request: Request, context: { params: Promise<{ id: string }> }) => Promise<Response> = app.fetch;
/** `Bun.serve`. */
interface BunServer {
  readonly pendingRequests: number;
  requestIP(request: Request): { readonly address: string } | null;
}
export const bun: { fetch(this: BunServer, request: Request, server: BunServer): Promise<Response> } = app;
/** `Deno.serve`. */
interface DenoInfo {
  readonly remoteAddr: { readonly hostname: string };
  readonly completed: Promise<void>;
}
export const deno: (request: Request, info: DenoInfo) => Response | Promise<Response> = app.fetch;
/** A Worker's module. */
interface Env {
  readonly DB: object;
}
interface Context {
  waitUntil(promise: Promise<unknown>): void;
}
export const worker: { fetch?: (request: Request, env: Env, context: Context) => Response | Promise<Response> } = app;

void app.fetch(request);
void app.fetch(request, { peer: "192.0.2.1" });
// @ts-expect-error an address that is no text
void app.fetch(request, { peer: 1 });
// @ts-expect-error a misspelt member
void app.fetch(request, { per: "192.0.2.1" });
// @ts-expect-error no object
void app.fetch(request, "192.0.2.1");
