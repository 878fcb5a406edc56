/** Servers on a free port, each stopped when its test ends, its clients gone. */
import { vi } from "vitest";
import type { Route } from "usher-http";
import { serve } from "usher-http/node";
import type { Server, ServeOptions } from "usher-http/node";
import { endsWithTest } from "./ends.ts";
import { RawClient, leaveAll } from "./raw-client.ts";
import "./logs.ts";

const running: Server[] = [];
endsWithTest(async () => {
  leaveAll();
  await Promise.all(running.splice(0).map((server) => server.stop()));
  vi.useRealTimers();
});

/**
 * Stops the clock that a listener started from now on measures its clients' bodies by. What comes over its sockets
 * still comes; `vi.advanceTimersByTime` lets time pass for it.
 */
export function holdClock(): void {
  vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval"] });
}

export async function start(routes: readonly Route[], options: ServeOptions = {}): Promise<Server> {
  const server = await serve(routes, { port: 0, host: "127.0.0.1", signals: false, drainMs: 0, ...options });
  running.push(server);
  return server;
}

/** A client of a server of its own. */
export async function clientOf(routes: readonly Route[], options: ServeOptions = {}): Promise<RawClient> {
  return RawClient.to((await start(routes, options)).port);
}

export { gate } from "./gate.ts";
export type { Gate } from "./gate.ts";
