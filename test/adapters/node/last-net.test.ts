/**
 * An event listener on Node throws, which no known input causes: the connection is closed, an error line
 * has its kind and its place but no message, and the process continues.
 */
import { Server } from "node:net";
import { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Answer, Path, Returns, Socket, body, get, post } from "usher-http";
import { OpenSocket } from "../../../src/sockets/open-socket.ts";
import { NodeConnection } from "../../../adapters/node/connection.ts";
import { ConnectionReading } from "../../../adapters/node/reading.ts";
import { ConnectionWriting } from "../../../adapters/node/writing.ts";
import { CountedLog } from "../../../src/app/counted-log.ts";
import { lines } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";

afterEach(() => vi.restoreAllMocks());

const protocol = Socket.protocol({ client: Socket.text, server: Socket.text });
const routes = [
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
  get(Path.of("later"), { returns: Returns.text }, async () => "later"),
  post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.byteLength}`),
  get(Path.of("socket"), { returns: Returns.websocket(protocol) }, () => async (socket) => {
    for await (const text of socket) await socket.send(text);
  }),
  get(Path.of("taken"), { returns: Returns.response }, () =>
    Answer.takeover("echo", ({ readable, writable }) => readable.pipeTo(writable)),
  ),
];
const raises = (): never => {
  throw new TypeError("a secret");
};
const handshake = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

/** Starts a server, and returns Node's own server object. */
async function startWatched(): Promise<{ readonly port: number; readonly server: Server; readonly app: object }> {
  const listen = vi.spyOn(Server.prototype, "listen");
  const { port, app } = await start(routes);
  return { port, app, server: listen.mock.contexts.at(-1) as Server };
}

async function isTold(port: number): Promise<void> {
  await eventually(() => expect(lines().filter(({ level }) => level === "error")).not.toEqual([]));
  const [line, ...more] = lines().filter(({ level }) => level === "error");
  expect(more).toEqual([]);
  expect(line).toMatchObject({ "error.kind": "TypeError", "error.stack": expect.stringMatching(/^at /) });
  expect(JSON.stringify(line)).not.toContain("secret");
  const other = await RawClient.to(port);
  expect((await other.ask("GET /ok").answer()).body).toBe("ok");
}

describe("an exception in an event listener: of the server", () => {
  /** With the arguments that Node would pass, except a connection without any members. */
  const events: { readonly [event: string]: (socket: Duplex) => readonly unknown[] } = {
    connection: (socket) => [socket],
    request: (socket) => [{ socket }, {}],
    checkContinue: (socket) => [{ socket }, {}],
    checkExpectation: (socket) => [{ socket }, {}],
    upgrade: (socket) => [{ socket }, socket, Buffer.alloc(0)],
    connect: (socket) => [{ socket }, socket, Buffer.alloc(0)],
    clientError: (socket) => [new Error("a secret"), socket],
    timeout: (socket) => [socket],
  };
  it.each(Object.keys(events))("ends only that connection: %s", async (event) => {
    const { port, server } = await startWatched();
    const socket = new Duplex();
    // For `connection`, Node's own listener is not tested here.
    const ours = server.listeners(event).at(-1) as (...given: readonly unknown[]) => void;
    ours.apply(server, events[event]?.(socket) as unknown[]);
    expect(socket.destroyed).toBe(true);
    await isTold(port);
  });

  it("of its listening socket ends nothing", async () => {
    const { port, server } = await startWatched();
    server.emit("error", new TypeError("a secret"));
    await isTold(port);
  });

  it("of a connection above maxConnections ends nothing", async () => {
    const { port, server } = await startWatched();
    vi.spyOn(CountedLog.prototype, "count").mockImplementationOnce(raises);
    server.emit("drop");
    await isTold(port);
  });
});

describe("an exception in an event listener: of an answer", () => {
  type Breaks = (app: { answer: () => unknown }) => void;
  const answers: readonly (readonly [what: string, ...sent: readonly string[]])[] = [
    ["a request", "GET /ok HTTP/1.1", "host: h", "", ""],
    ["a body", "POST /size HTTP/1.1", "host: h", "content-length: 4", "", "four"],
    [
      "a body that waits to be asked for",
      "POST /size HTTP/1.1",
      "host: h",
      "expect: 100-continue",
      "content-length: 4",
      "",
      "",
    ],
    ["another expectation", "GET /ok HTTP/1.1", "host: h", "expect: y", "", ""],
    ["a CONNECT", "CONNECT h:80 HTTP/1.1", "host: h:80", "", ""],
    ["a handshake", "GET /socket HTTP/1.1", "host: h", ...handshake, "", ""],
    ["a takeover", "GET /taken HTTP/1.1", "host: h", "connection: upgrade", "upgrade: echo", "", ""],
  ];
  const ways: { readonly [how: string]: Breaks } = {
    raises: (app) => vi.spyOn(app, "answer").mockImplementationOnce(raises),
    rejects: (app) => vi.spyOn(app, "answer").mockImplementationOnce(() => Promise.reject(new TypeError("a secret"))),
  };
  const rows = Object.keys(ways).flatMap((how) => answers.map(([what, ...sent]) => [what, how, sent] as const));
  it.each(rows)("while the app answers ends only that connection: %s, %s", async (_what, how, sent) => {
    const server = await start(routes, { drainMs: 600_000 });
    ways[how]?.(server.app as never);
    const client = await RawClient.to(server.port);
    expect(await client.send(...sent).rest()).toBe("");
    await isTold(server.port);
    // It is no longer in flight.
    expect(await server.stop()).toBe(0);
  });

  it("while an answer is written ends only that connection", async () => {
    const { port } = await start(routes);
    vi.spyOn(ConnectionWriting.prototype, "endAnswer").mockImplementationOnce(raises);
    const client = await RawClient.to(port);
    await client.ask("GET /later").closed();
    await isTold(port);
  });
});

describe("an exception in an event listener: of a connection", () => {
  it("whose client half-closes ends only that connection", async () => {
    const { port } = await start(routes);
    vi.spyOn(ConnectionReading.prototype, "halfClosed").mockImplementationOnce(raises);
    await (await RawClient.to(port)).halfClose().closed();
    await isTold(port);
  });

  it("that is closed ends only that connection", async () => {
    const { port } = await start(routes);
    vi.spyOn(NodeConnection.prototype, "closed").mockImplementationOnce(raises);
    (await RawClient.to(port)).leave();
    await isTold(port);
  });

  it("whose body arrives ends only that connection", async () => {
    const { port } = await start(routes);
    vi.spyOn(ConnectionReading.prototype, "removeReader").mockImplementationOnce(raises);
    const client = await RawClient.to(port);
    await client.ask("POST /size", [], "four").closed();
    await isTold(port);
  });

  it("that opens as a WebSocket ends only that connection", async () => {
    const { port } = await start(routes);
    vi.spyOn(WebSocketServer.prototype, "handleUpgrade").mockImplementationOnce(raises);
    await (await RawClient.to(port)).ask("GET /socket", handshake).closed();
    await isTold(port);
  });

  it.each([
    ["a message", "message", "\u0081\u0080\0\0\0\0"],
    ["a ping", "frame", "\u0089\u0080\0\0\0\0"],
    ["a close", "closed", "\u0088\u0082\0\0\0\0\u0003\u00e8"],
  ] as const)("that is a WebSocket ends only that connection: %s", async (_what, method, frame) => {
    const { port } = await start(routes);
    const client = await RawClient.to(port);
    expect((await client.ask("GET /socket", handshake).answer()).status).toBe(101);
    vi.spyOn(OpenSocket.prototype, method).mockImplementationOnce(raises);
    await client.send(frame).closed();
    await isTold(port);
  });

  it("that is taken over ends only that connection", async () => {
    const { port } = await start(routes);
    const client = await RawClient.to(port);
    const offer = ["connection: upgrade", "upgrade: echo"];
    expect((await client.ask("GET /taken", offer).answer()).status).toBe(101);
    vi.spyOn(ReadableStreamDefaultController.prototype, "enqueue").mockImplementationOnce(raises);
    await client.send("hello").closed();
    await isTold(port);
  });
});
