/** A cancelled call does not wait for a client that does not read its stream. */
import { Event, Meta, Path, Returns, get } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { gate } from "../../support/gate.ts";
import type { Gate } from "../../support/gate.ts";
import { requestOf } from "./asking.ts";

const Large = Event.text("large");
// More than a socket buffers.
const large = Event.make(Large, "a".repeat(16 * 1024 * 1024));

interface Stuck {
  readonly server: Server;
  readonly socket: Socket;
  /** Opens when the route ends. */
  readonly ended: Gate;
}

/** A call whose client has read nothing. */
async function stuck(): Promise<Stuck> {
  const [started, ended] = [gate(), gate()];
  let isTestOver = false;
  const floods = get(
    Path.of("floods"),
    { meta: Meta.tool({ name: "floods", events: "progress" }), returns: Returns.events([Large]) },
    () => async (send) => {
      // By then the sent bytes wait for the client.
      setTimeout(() => started.open(), 50);
      while (!isTestOver && (await send(large)).ok);
      ended.open();
    },
  );
  const tools = Mcp.routes([floods], { name: "floods", version: "1", maxAnswer: 64 * 1024 * 1024 });
  // The limits of a slow client, or of a stop, end nothing here.
  const server = await serve([floods, ...tools], { port: 0, sendTimeoutMs: 600_000, drainMs: 30_000 });
  const socket = begin(server.port, "floods");
  socket.pause();
  onTestFinished(async () => {
    isTestOver = true;
    socket.destroy();
    await server.stop();
  });
  await started.passed;
  return { server, socket, ended };
}

/** Calls a tool on a connection of its own. */
function begin(port: number, name: string): Socket {
  const socket = connect(port, "127.0.0.1");
  const { headers, body } = requestOf(1, "tools/call", { name, _meta: { progressToken: "t" } });
  const lines = Object.entries({ host: "127.0.0.1", ...headers, "content-length": body.length });
  socket.write(
    `POST /mcp HTTP/1.1\r\n${lines.map(([header, value]) => `${header}: ${value}\r\n`).join("")}\r\n${body}`,
  );
  return socket;
}

it.each<[way: string, cancel: (stuck: Stuck) => unknown]>([
  ["a disconnected client", ({ socket }) => socket.destroy()],
  ["a stop of the server", ({ server }) => void server.stop()],
])("a call ends by %s", async (_way, cancel) => {
  const one = await stuck();
  await cancel(one);
  expect(await one.ended.passed).toBeUndefined();
});
