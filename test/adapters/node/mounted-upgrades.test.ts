/** WebSocket routes of an app in an existing server, which has other listeners of `upgrade`, such as Socket.IO's. */
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { App, Path, Returns, Socket, get } from "usher-http";
import type { Route } from "usher-http";
import { listener, serve } from "usher-http/node";
import type { ListenerOptions } from "usher-http/node";
import { messages } from "../../support/logs.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import { listens } from "./mounted-server.ts";
import { handshake } from "./open-sockets.ts";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const chat = get(Path.of("chat"), { returns: Returns.websocket(texts) }, () => async (socket) => {
  for await (const text of socket) await socket.send(`usher ${text}`);
});
const hello = get(Path.of("hello"), { returns: Returns.text }, () => "Hello.");

async function serving(more: (server: Server) => void = () => {}, options: ListenerOptions = {}) {
  const app = App.make([chat, hello]);
  const answer = listener(app, options);
  const server = createServer(answer).on("upgrade", answer.upgrade);
  more(server);
  return { app, port: await listens(server) };
}

/** Sends a text on a new connection, and returns the answer. */
function said(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const client = new WebSocket(url);
    client.on("open", () => client.send(text));
    client.on("message", (data) => {
      resolve((data as Buffer).toString());
      client.close();
    });
    client.on("error", reject);
  });
}

/** Takes the handshakes of `/other`, and leaves all others alone. */
function takesOther(server: Server): void {
  const others = new WebSocketServer({ noServer: true });
  others.on("connection", (client) => client.on("message", (data) => client.send(`other ${String(data)}`)));
  server.on("upgrade", (request, socket: Duplex, head) => {
    if (request.url === "/other")
      others.handleUpgrade(request, socket, head, (client) => others.emit("connection", client));
  });
}

/** Both ways to share a port with other listeners of `upgrade`. */
const ways = {
  listener: async (options: ListenerOptions = {}) => (await serving(takesOther, options)).port,
  "serve, with a WebSocket": (options: ListenerOptions = {}) => served([chat, hello], options),
  "serve, without one": (options: ListenerOptions = {}) => served([hello], options),
};

async function served(routes: readonly Route[], options: ListenerOptions): Promise<number> {
  const server = await serve(routes, { port: 0, host: "127.0.0.1", signals: false, attach: takesOther, ...options });
  onTestFinished(() => void server.stop());
  return server.port;
}

describe.each(Object.entries(ways))("a port that is shared by %s", (_, port) => {
  it("has the other listener's WebSockets, and the app's requests", async () => {
    const shared = await port();
    expect(await said(`ws://127.0.0.1:${shared}/other`, "a")).toBe("other a");
    expect(await (await fetch(`http://127.0.0.1:${shared}/hello`)).text()).toBe("Hello.");
  });

  it("answers another offer than a WebSocket, for any path", async () => {
    const lines = ["upgrade: h2c", "connection: Upgrade, HTTP2-Settings", "http2-settings: AAMA"];
    const shared = await port();
    for (const [path, status] of [
      ["/hello", 200],
      ["/elsewhere", 404],
    ] as const) {
      expect((await (await RawClient.to(shared)).ask(`GET ${path}`, lines).answer()).status).toBe(status);
    }
  });

  it("closes a handshake that is not answered by any listener, and survives one that is reset", async () => {
    const shared = await port({ sendTimeoutMs: 100 });
    const [left, waits] = [await RawClient.to(shared), await RawClient.to(shared)];
    left.ask("GET /none", handshake);
    waits.ask("GET /none", handshake);
    left.socket.resetAndDestroy();
    await waits.closed();
    expect(await said(`ws://127.0.0.1:${shared}/other`, "a")).toBe("other a");
    expect(messages("error")).toEqual([]);
  });
});

describe("attach", () => {
  it("ends the connections of others with the server, and refuses what is no function", async () => {
    const server = await serve([hello], { port: 0, host: "127.0.0.1", signals: false, attach: takesOther });
    const client = new WebSocket(`ws://127.0.0.1:${server.port}/other`);
    await new Promise((resolve) => client.once("open", resolve));
    const closed = new Promise((resolve) => client.once("close", resolve));
    await server.stop();
    expect(await closed).toBe(1006);
    await expect(serve([hello], { attach: 1 as never })).rejects.toThrow("serve: attach");
  });
});

describe("an app in an existing server, with its listener of upgrade", () => {
  it("opens WebSockets and answers requests on one port", async () => {
    const { port } = await serving();
    const all = await Promise.all([1, 2, 3].map((i) => said(`ws://127.0.0.1:${port}/chat`, `${i}`)));
    expect(all).toEqual(["usher 1", "usher 2", "usher 3"]);
    expect(await (await fetch(`http://127.0.0.1:${port}/hello`)).text()).toBe("Hello.");
  });

  it("answers an offer that it does not take as a plain request, also one of HTTP/2 and a wrong handshake", async () => {
    const { port } = await serving();
    for (const lines of [handshake, ["upgrade: h2c", "connection: Upgrade, HTTP2-Settings", "http2-settings: AAMA"]]) {
      const answered = await (await RawClient.to(port)).ask("GET /hello", lines).answer();
      expect([answered.status, answered.body]).toEqual([200, "Hello."]);
    }
    const wrong = handshake.map((line) => line.replace(/version: 13/, "version: 8"));
    const answered = await (await RawClient.to(port)).ask("GET /chat", wrong).answer();
    expect([answered.status, header(answered, "sec-websocket-version")]).toEqual([426, "13"]);
  });

  it("closes its WebSockets when the app drains", async () => {
    const { app, port } = await serving();
    const client = new WebSocket(`ws://127.0.0.1:${port}/chat`);
    await new Promise((resolve) => client.once("open", resolve));
    const closed = new Promise((resolve) => client.once("close", resolve));
    app.drain();
    expect(await closed).toBe(1001);
  });

  it("closes a handshake that no listener has answered when the app drains, and no WebSocket of another listener", async () => {
    const { app, port } = await serving(takesOther, { sendTimeoutMs: 600_000 });
    const other = new WebSocket(`ws://127.0.0.1:${port}/other`);
    await new Promise((resolve) => other.once("open", resolve));
    const before = (await RawClient.to(port)).ask("GET /none", handshake);
    await turns(port);
    app.drain();
    const after = (await RawClient.to(port)).ask("GET /none", handshake);
    await Promise.all([before.closed(), after.closed()]);
    const heard = new Promise((resolve) => other.once("message", (data) => resolve(String(data))));
    other.send("a");
    expect(await heard).toBe("other a");
    other.close();
  });

  it("survives a client that leaves in the middle of its handshake", async () => {
    const { port } = await serving();
    for (let i = 0; i < 20; i++) {
      const client = await RawClient.to(port);
      client.ask("GET /chat", handshake);
      client.leave();
    }
    expect(await said(`ws://127.0.0.1:${port}/chat`, "c")).toBe("usher c");
    expect(messages("error")).toEqual([]);
  });
});
