/** A cancelled call does not wait for a client that does not read its stream. */
import { Event, Meta, Path, Returns, clientGone, get } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { gate } from "../../support/gate.ts";
import type { Gate } from "../../support/gate.ts";
import { SessionClient } from "./session-client.ts";

const Large = Event.text("large");
// More than a socket buffers.
const large = Event.make(Large, "a".repeat(16 * 1024 * 1024));

interface Stuck {
  readonly server: Server;
  readonly session: SessionClient;
  /** Opens when the route ends. */
  readonly ended: Gate;
}

/** A session with a call whose client has read nothing. A session keeps the streams of eight calls: another's cannot be resumed. */
async function stuck(kept: number): Promise<Stuck> {
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
  const waits = get(
    Path.of("waits"),
    {
      meta: Meta.tool({ name: "waits", events: "progress" }),
      inputs: { clientGone },
      returns: Returns.events([Large]),
    },
    ({ clientGone }) =>
      async (send) => {
        await send(Event.make(Large, "a"));
        await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
      },
  );
  const routes = [floods, waits];
  const tools = Mcp.routes(routes, {
    name: "floods",
    version: "1",
    maxAnswer: 64 * 1024 * 1024,
    sessions: { max: 1, resumeMs: 600_000 },
  });
  // The limits of a slow client, or of a stop, end nothing here.
  const server = await serve([...routes, ...tools], { port: 0, sendTimeoutMs: 600_000, drainMs: 30_000 });
  const session = await SessionClient.open(`http://127.0.0.1:${server.port}/mcp`);
  const waiting = Array.from({ length: kept }, (_, i) => begin(session, i + 2, "waits"));
  // Each stream is kept after its first message was read.
  await Promise.all(waiting.map((socket) => once(socket, "data")));
  const socket = begin(session, 1, "floods");
  socket.pause();
  onTestFinished(async () => {
    isTestOver = true;
    for (const one of [socket, ...waiting]) one.destroy();
    await server.stop();
  });
  await started.passed;
  return { server, session, ended };
}

/** Calls a tool on a connection of its own. */
function begin(session: SessionClient, id: number, name: string): Socket {
  const { hostname, port } = new URL(session.url);
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, _meta: { progressToken: "t" } },
  });
  const head = [
    "POST /mcp HTTP/1.1",
    "host: 127.0.0.1",
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    `mcp-session-id: ${session.id}`,
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  return socket;
}

const ways: readonly (readonly [string, (stuck: Stuck) => unknown])[] = [
  ["DELETE of its session", ({ session }) => session.request("DELETE")],
  ["a notification", ({ session }) => session.cancel(1)],
  ["the eviction of its session", ({ session }) => SessionClient.open(session.url)],
  ["a stop of the server", ({ server }) => void server.stop()],
];

describe.each([
  ["that may be resumed", 0],
  ["past those that a session keeps", 8],
])("a call %s", (_which, kept) => {
  it.each(ways)("ends by %s", async (_way, cancel) => {
    const one = await stuck(kept);
    await cancel(one);
    expect(await one.ended.passed).toBeUndefined();
  });
});
