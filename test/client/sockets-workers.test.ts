/** WebSockets that the typed client opens inside a Worker, by the platform's own class. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { bundle, start as startWorker } from "../adapters/workers/running.ts";
import { start } from "../support/node-server.ts";
import { seen } from "./socket-acts.ts";
import { socketRoutes } from "./socket-routes.ts";

const script = await bundle({ file: "../../client/socket-worker.ts" });
const worker = await startWorker(script);

/** What the Worker observes at the server of this port. */
async function observed(path: string, port: number | undefined): Promise<string> {
  const to = encodeURIComponent(`http://127.0.0.1:${port}`);
  return (await (await worker.client()).ask(`GET ${path}?to=${to}`).answer()).body;
}

/** A server of a test's own, and the codes that its sockets ended with. */
async function server(speak: (socket: WebSocket) => void) {
  const listening = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const codes: Promise<number>[] = [];
  listening.on("connection", (socket) => {
    codes.push(once(socket, "close").then(([code]) => code as number));
    speak(socket);
  });
  await once(listening, "listening");
  onTestFinished(() => {
    for (const socket of listening.clients) socket.terminate();
    listening.close();
  });
  return { port: (listening.address() as AddressInfo).port, codes };
}

describe("a WebSocket that a Worker opens", () => {
  it("speaks JSON, text and bytes to a server on Node", async () => {
    const { port } = await start([...socketRoutes]);
    expect(JSON.parse(await observed("/speak", port))).toEqual(seen);
  });

  it("speaks them to another Worker", async () => {
    const other = await startWorker(script);
    const { remotePort } = (await other.client()).socket;
    expect(JSON.parse(await observed("/speak", remotePort))).toEqual(seen);
  });

  const lost = "WebSocket disconnected without sending Close frame.";
  const long = "more than 100000 bytes of a WebSocket's messages were not read";
  it.each<readonly [what: string, speak: (socket: WebSocket) => void, sees: readonly unknown[], code: number]>([
    [
      "a message and 1000",
      (socket) => (socket.send(Buffer.of(1)), socket.close(1000)),
      [[1], "ended", { code: 1000, reason: "" }],
      1000,
    ],
    ["no code", (socket) => socket.close(), ["ended", { code: 1005, reason: "" }], 1005],
    [
      "an error",
      (socket) => socket.close(1011, "why"),
      ["the WebSocket was closed: 1011", { code: 1011, reason: "why" }],
      1011,
    ],
    [
      "a code of its own",
      (socket) => socket.close(4000, "why"),
      ["the WebSocket was closed: 4000", { code: 4000, reason: "why" }],
      4000,
    ],
    [
      "no close frame",
      (socket) => socket.once("message", () => socket.terminate()),
      ["the WebSocket was closed: 1006", { code: 1006, reason: lost }],
      1006,
    ],
    [
      "a message that is too long",
      (socket) => socket.send(Buffer.alloc(200_000)),
      [long, { code: 4009, reason: "too many messages wait" }],
      4009,
    ],
    [
      "a text that is no JSON",
      (socket) => socket.send("text"),
      ["a message of a WebSocket is not JSON", { code: 4007, reason: "a message is not JSON" }],
      4007,
    ],
  ])("ends with what its server sends: %s", async (_what, speak, sees, code) => {
    const { port, codes } = await server(speak);
    expect(JSON.parse(await observed("/ends", port))).toEqual(sees);
    expect(await codes[0]).toBe(code);
  });

  it("is unreachable where nothing listens, and is closed by its signal", async () => {
    expect(JSON.parse(await observed("/ends", 1))).toEqual(["not opened", "unreachable"]);
    const { port, codes } = await server(() => {});
    expect(JSON.parse(await observed("/aborted", port))).toEqual([[], { code: 1000, reason: "" }, false]);
    expect(await codes[0]).toBe(1000);
  });

  it("does not learn what its server has read: it is sent everything", async () => {
    const { port } = await server((socket) => socket.pause());
    expect(await observed("/sends", port)).toBe("all 100");
  });
});
