import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { App } from "usher-http";
import { whatwg } from "../../../adapters/whatwg/index.ts";
import type { WhatwgHandler } from "../../../adapters/whatwg/index.ts";
import { startAll } from "./start.ts";

type Adapter = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

// Its types include the DOM's, which conflict with Node's: TypeScript must not find them by this name.
const name: string = "@whatwg-node/server";
const { createServerAdapter } = (await import(name)) as {
  readonly createServerAdapter: (handler: WhatwgHandler) => Adapter;
};

await startAll(async (routes, { port, host, ...options }) => {
  const adapter = createServerAdapter(whatwg(App.make(routes, options)));
  const server = createServer((request, response) => void adapter(request, response));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return { port: (server.address() as AddressInfo).port };
});
