/** Connections that were requested before a stop and change their protocol during it: their handlers are notified. */
import { describe, expect, it } from "vitest";
import { Answer, Path, Returns, Socket, get } from "usher-http";
import type { Route } from "usher-http";
import { eventually } from "../../support/eventually.ts";
import { messages } from "../../support/logs.ts";
import { turn } from "../../support/memory.ts";
import { gate, start } from "../../support/node-server.ts";
import type { Gate } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

/** Longer than any test runs: a stop that ends earlier has waited only for the handlers. */
const drainMs = 600_000;

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const handshake = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];
const hello = "\u0081\u0085\0\0\0\0hello";

/** Work that a handler still has when its connection is closed: the server that stops waits for it. */
async function works(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn();
}

/** Routes that open when the gate opens, and record here how their handlers were notified. */
function routesBehind(asked: Gate, opens: Gate, told: string[]): readonly Route[] {
  const opened = async (): Promise<void> => {
    asked.open();
    await opens.passed;
  };
  return [
    get(Path.of("socket"), { returns: Returns.websocket(texts) }, async () => {
      await opened();
      return async (socket) => {
        const received = await socket.receive();
        told.push(JSON.stringify(received.ok ? received.value : received.error));
        if (received.ok) await socket.send(received.value);
        await works();
        told.push("done");
      };
    }),
    get(Path.of("taken"), { returns: Returns.response }, async () => {
      await opened();
      return Answer.takeover("echo", async ({ writable, stopping }) => {
        told.push(`stopping: ${stopping.aborted}`);
        await writable.getWriter().write(Buffer.from(told.join()));
        await works();
        told.push("done");
      });
    }),
  ];
}

describe("a connection that is handed over while its server stops", () => {
  it.each([
    [
      "a WebSocket",
      "/socket",
      handshake,
      '{"kind":"closed","code":1001,"reason":"The server is stopping."}',
      "socket on /socket ended: server stopped",
    ],
    [
      "a takeover",
      "/taken",
      ["connection: upgrade", "upgrade: echo"],
      "stopping: true",
      "takeover on /taken ended: finished",
    ],
  ])("has its handler notified at once: %s", async (_what, path, lines, says, ended) => {
    const [asked, opens, told] = [gate(), gate(), [] as string[]];
    const server = await start(routesBehind(asked, opens, told), { drainMs });
    const client = await RawClient.to(server.port);
    client.ask(`GET ${path}`, lines);
    await asked.passed;
    const stopped = server.stop();
    opens.open();
    expect((await client.answer()).status).toBe(101);
    if (path === "/socket") {
      // Sent before any other event of the handler: a handler that does not know about the stop sends it back.
      client.send(hello);
      expect(await client.frame()).toEqual({ first: 0x88, payload: "\u0003\u00e9The server is stopping." });
      client.send("\u0088\u0082\0\0\0\0\u0003\u00e9");
    } else expect(await client.bytes(says.length)).toBe(says);
    await client.closed();
    client.leave();
    expect(await stopped).toBe(0);
    expect(told).toEqual([says, "done"]);
    expect(messages("info").filter((line) => String(line).includes("ended"))).toEqual([ended]);
    expect(messages("error")).toEqual([]);
    await eventually(() => expect(messages("info").at(-1)).toMatch(/^stopped/));
  });
});
