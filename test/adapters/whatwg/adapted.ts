/** Apps behind `@whatwg-node/server`, each in a server of Node's own that ends with its test. */
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { App } from "usher-http";
import type { AppOptions, Route } from "usher-http";
import { whatwg } from "../../../adapters/whatwg/index.ts";
import type { WhatwgContext, WhatwgHandler } from "../../../adapters/whatwg/index.ts";
import { onTestFinished } from "vitest";
import { endsWithTest } from "../../support/ends.ts";
import { http2Client } from "../../support/http2-client.ts";
import { serverOfTest } from "../../support/http-server.ts";
import { RawClient, leaveAll } from "../../support/raw-client.ts";
import "../../support/logs.ts";

/** What the package makes of a handler, as far as it is used here. */
export interface Adapter {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  fetch(request: Request): Promise<Response>;
  /** Of a server that wraps Node's objects, with what it calls them. */
  handleNodeRequestAndResponse(request: unknown, response: unknown, context: WhatwgContext): Promise<Response>;
}

// Its types bring the DOM's with them, which clash with Node's: they are not to be found by this name.
const name: string = "@whatwg-node/server";
const { createServerAdapter } = (await import(name)) as {
  readonly createServerAdapter: (handler: WhatwgHandler) => Adapter;
};

endsWithTest(leaveAll);

export function adapterOf(routes: readonly Route[], options: AppOptions = {}): Adapter {
  return createServerAdapter(whatwg(App.make(routes, options)));
}

/** Starts a server on a free port. */
export async function serving(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  return (await serverOfTest(listener)).server;
}

/** A server of its own, whose listener is the app's adapter. */
export function servingApp(app: App): Promise<Server> {
  const adapter = createServerAdapter(whatwg(app));
  return serving((request, response) => void adapter(request, response));
}

/** A client of a server of its own, whose listener is the adapter. */
export async function clientOf(routes: readonly Route[], options: AppOptions = {}): Promise<RawClient> {
  return clientTo(await servingApp(App.make(routes, options)));
}

/** A client of HTTP/2, of a server of its own. */
export async function http2ClientOf(routes: readonly Route[]): Promise<ClientHttp2Session> {
  const adapter = adapterOf(routes);
  const server = createServer((request, response) => {
    // It has what the adapter reads of Node's.
    void adapter(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return http2Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

export async function clientTo(server: Server): Promise<RawClient> {
  return RawClient.to((server.address() as AddressInfo).port);
}
