/** The servers with a WebSocket at `/echo` that sends each message back: `start` resolves with the port. */
import { createServer } from "node:http";

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {"node" | "bun"} on
 * @property {() => Promise<number>} start
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  ws: { name: "`ws`, on Node", on: "node", start: byHand },
  usher: { name: "usher, on Node", on: "node", start: () => usher("node") },
  bun: { name: "`Bun.serve`", on: "bun", start: bunByHand },
  "usher-bun": { name: "usher, on Bun", on: "bun", start: () => usher("bun") },
};

async function byHand() {
  const { WebSocketServer } = await import("ws");
  const sockets = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false });
  const server = createServer();
  server.on("upgrade", (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (socket) => {
      // As text and not as bytes, like an application.
      socket.on("message", (/** @type {Buffer} */ data) => socket.send(data.toString()));
    });
  });
  await new Promise((resolve) => server.listen({ port: 0, host: "127.0.0.1" }, resolve));
  return server.address().port;
}

async function bunByHand() {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => (server.upgrade(request) ? undefined : new Response(null, { status: 426 })),
    websocket: { perMessageDeflate: false, message: (socket, data) => void socket.send(data) },
  });
  return server.port;
}

async function usher(on) {
  const { Log, Path, Returns, Socket, get } = await import("usher-http");
  const { serve } = await import(`usher-http/${on}`);
  Log.setup({ level: undefined });
  const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
  const echo = get(Path.of("echo"), { returns: Returns.websocket(texts) }, () => async (socket) => {
    for await (const text of socket) if (!(await socket.send(text)).ok) return;
  });
  const { port } = await serve([echo], { host: "127.0.0.1", port: 0 });
  return port;
}
