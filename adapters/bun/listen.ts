import { inBackground } from "../../src/logging/background.ts";
import { lstatSync, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { isTaken, listenAt } from "../../src/app/addresses.ts";
import type { Limits } from "../../src/app/listening.ts";
import type { BunServer } from "./runtime.ts";

/** What came of listening: a server for each address, and where that is in words. */
export interface Servers {
  readonly servers: readonly BunServer[];
  readonly port: number;
  readonly url: string;
  readonly bound: string;
}

type Serve = (where: { readonly hostname: string; readonly port: number } | { readonly unix: string }) => BunServer;

export async function listen({ host, port, socket }: Limits, serve: Serve): Promise<Servers> {
  if (socket !== undefined) {
    const server = await listenOn(socket, () => serve({ unix: socket }));
    return { servers: [server], port: 0, url: `unix:${socket}`, bound: socket };
  }
  const listenerAt = (hostname: string, port: number) => {
    const server = serve({ hostname, port });
    return { server, port: server.port as number, close: () => inBackground(server.stop(true)) };
  };
  const { listeners, port: taken, bound } = listenAt(host, port, listenerAt);
  const servers = listeners.map(({ server }) => server);
  return { servers, port: taken, url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`, bound };
}

// A socket left behind by a server that died is in the way; a living server's, or a file that is none, stays.
async function listenOn(path: string, serve: () => BunServer): Promise<BunServer> {
  try {
    return serve();
  } catch (error) {
    if (!isTaken(error) || !(await isLeftBehind(path))) throw error;
  }
  unlinkSync(path);
  return serve();
}

function isLeftBehind(path: string): Promise<boolean> {
  if (!lstatSync(path).isSocket()) return Promise.resolve(false);
  return new Promise((resolve) => {
    const client = connect(path);
    client.once("connect", () => resolve(false));
    client.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
    client.once("connect", () => client.destroy());
  });
}
