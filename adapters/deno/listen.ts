import { isTaken, listenAt } from "../../src/app/addresses.ts";
import type { Limits } from "../../src/app/listening.ts";
import type { DenoRuntime, DenoServeOptions } from "./runtime.ts";
import type { Serving } from "./serving.ts";

declare const Deno: DenoRuntime;

/** What came of listening: a server for each address, and where that is in words. */
export interface Servers {
  readonly servers: readonly Serving[];
  readonly port: number;
  readonly url: string;
  readonly bound: string;
}

type Where = Pick<DenoServeOptions, "hostname" | "port" | "path">;
type Serve = (where: Where) => Serving;

export async function listen({ host, port, socket }: Limits, serve: Serve): Promise<Servers> {
  if (socket !== undefined) {
    const server = await listenOn(socket, () => serve({ path: socket }));
    return { servers: [server], port: 0, url: `unix:${socket}`, bound: socket };
  }
  const listenerAt = (hostname: string, port: number) => {
    const server = serve({ hostname, port });
    return { server, port: server.addr.port as number, close: () => server.shutdown() };
  };
  const { listeners, port: taken, bound } = listenAt(host, port, listenerAt);
  const servers = listeners.map(({ server }) => server);
  return { servers, port: taken, url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`, bound };
}

// A socket left behind by a server that died is in the way; a living server's, or a file that is none, stays.
async function listenOn(path: string, serve: () => Serving): Promise<Serving> {
  try {
    return serve();
  } catch (error) {
    if (!isTaken(error) || !(await isLeftBehind(path))) throw error;
  }
  Deno.removeSync(path);
  return serve();
}

async function isLeftBehind(path: string): Promise<boolean> {
  if (Deno.lstatSync(path).isSocket !== true) return false;
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return false;
  } catch (error) {
    return (error as { readonly code?: string }).code === "ECONNREFUSED";
  }
}
