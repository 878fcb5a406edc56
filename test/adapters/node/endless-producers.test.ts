/** A producer that sends without a pause blocks the event loop: the very next send reports that its client is gone. */
import diagnostics from "node:diagnostics_channel";
import type { Socket as NetSocket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Answer, Event, Path, Returns, Socket, get } from "usher-http";
import { start } from "../../support/node-server.ts";
import "../../support/logs.ts";
import { RawClient } from "../../support/raw-client.ts";

/** The server's side of the last connection. */
let connection: NetSocket;
const onSocket = (message: unknown): void => {
  ({ socket: connection } = message as { socket: NetSocket });
};
beforeEach(() => diagnostics.subscribe("net.server.socket", onSocket));
afterEach(() => void diagnostics.unsubscribe("net.server.socket", onSocket));

/** Ends the connection as a reset does, and sends in the same turn; returns how many sends succeeded. */
async function flood(send: () => Promise<boolean>): Promise<number> {
  connection.destroy();
  for (let sent = 0; sent < 1000; sent++) if (!(await send())) return sent;
  return 1000;
}

const tick = Event.text("tick");
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const handshake = ["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13"];
const key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";

it.each(["events", "socket", "taken"])("sends of %s return gone after the connection is reset", async (name) => {
  let told: (sent: number) => void = () => {};
  const flooded = new Promise<number>((resolve) => (told = resolve));
  const routes = [
    get(Path.of("events"), { returns: Returns.events([tick]) }, () => async (send) => {
      await send(Event.make(tick, "first"));
      told(await flood(async () => (await send(Event.make(tick, "more"))).ok));
    }),
    get(Path.of("socket"), { returns: Returns.websocket(texts) }, () => async (socket) => {
      await socket.receive();
      told(await flood(async () => (await socket.send("more")).ok));
    }),
    get(Path.of("taken"), { returns: Returns.response }, () =>
      Answer.takeover("echo", async ({ writable }) => {
        const writer = writable.getWriter();
        const write = () => writer.write(new Uint8Array(9)).then(() => true);
        told(await flood(() => write().catch(() => false)));
      }),
    ),
  ];
  const { port } = await start(routes);
  const client = await RawClient.to(port);
  if (name === "socket") {
    client.ask("GET /socket", [...handshake, key]);
    await client.answer();
    client.send("\u0081\u0081\0\0\0\0a");
  } else client.ask(`GET /${name}`, name === "taken" ? ["connection: upgrade", "upgrade: echo"] : []);
  expect(await flooded).toBe(0);
});
