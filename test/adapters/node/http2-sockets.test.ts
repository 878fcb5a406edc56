/** WebSockets over HTTP/2 on Node (RFC 8441). */
import { once } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { Codec, Cookie, Dep, Path, Refusal, Returns, Socket, get, refuse, setCookie } from "usher-http";
import type { Middleware, Route, SocketHandler, SocketOptions } from "usher-http";
import { makeCertificate } from "../../support/certificates.ts";
import { browser, sharedBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { FrameClient, headerBlock, http2Ask, http2Client, requestBlock } from "../../support/http2-client.ts";
import { messages } from "../../support/logs.ts";
import { gate, holdClock, start } from "../../support/node-server.ts";
import { bytes, frame } from "./open-sockets.ts";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");
const socket = (handler: SocketHandler<string, string>, options: SocketOptions = {}): Route =>
  get(Path.of("s"), { returns: Returns.websocket(texts, options) }, () => handler);
const echo = socket(async (socket) => {
  for await (const text of socket) await socket.send(text);
});

/** A client of one WebSocket. */
class SocketClient {
  received: Buffer = Buffer.alloc(0);
  readonly stream: ClientHttp2Stream;
  readonly response: Promise<IncomingHttpHeaders>;

  constructor(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}) {
    this.stream = session.request({ ...connects, ...headers }, { endStream: false });
    this.response = new Promise((resolve, reject) => {
      this.stream.on("response", resolve).on("close", () => reject(new Error(`reset with ${this.stream.rstCode}`)));
    });
    this.response.catch(() => {});
    this.stream.on("error", () => {});
    this.stream.on("data", (part: Buffer) => (this.received = Buffer.concat([this.received, part])));
  }

  send(...frames: readonly Buffer[]): this {
    this.stream.write(Buffer.concat(frames));
    return this;
  }

  hears(bytes: Buffer | string): Promise<void> {
    return eventually(() => {
      if (!this.received.equals(Buffer.from(bytes as string, "latin1"))) throw new Error(this.received.toString("hex"));
    });
  }
}

const connects = {
  ":method": "CONNECT",
  ":protocol": "websocket",
  ":path": "/s",
  "sec-websocket-version": "13",
};

async function sessionWith(routes: readonly Route[], options: Parameters<typeof start>[1] = {}) {
  const server = await start(routes, { http2: true, ...options });
  const session = await http2Client(server.url);
  if (!session.remoteSettings.enableConnectProtocol) await once(session, "remoteSettings");
  return { server, session };
}

async function opened(route: Route, options: Parameters<typeof start>[1] = {}, headers: OutgoingHttpHeaders = {}) {
  const { server, session } = await sessionWith([route, ok], options);
  const client = new SocketClient(session, headers);
  return { server, session, client, response: await client.response };
}

describe("http2: a handshake of a WebSocket", () => {
  it("is answered with 200, without the headers of HTTP/1.1's handshake", async () => {
    const { response } = await opened(echo);
    expect(Object.keys(response)).toEqual([":status", "date", "x-request-id"]);
    expect(response[":status"]).toBe(200);
  });

  it("has the subprotocol that both support, and the headers that its handler set", async () => {
    const chat = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: ["b", "a"] });
    const seen = Cookie.named("seen", Codec.int);
    const route = get(Path.of("s"), { inputs: { setCookie }, returns: Returns.websocket(chat) }, ({ setCookie }) => {
      setCookie(Cookie.make(seen, 1));
      return async () => {};
    });
    const { response } = await opened(route, {}, { "sec-websocket-protocol": "x, a, b" });
    expect(response["sec-websocket-protocol"]).toBe("b");
    expect(response["set-cookie"]).toEqual(["seen=1; Path=/; HttpOnly; SameSite=Lax"]);
  });

  const forbidden = Refusal.code("forbidden", { status: 403, doc: "No." });
  const refusing = get(Path.of("refuses"), { returns: Returns.websocket(texts), refuses: [forbidden] }, () =>
    refuse(forbidden, "Not today."),
  );
  const named = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: "a" });
  const needs = get(Path.of("needs"), { returns: Returns.websocket(named) }, () => async () => {});
  const taken = get(Path.of("any"), { returns: Returns.response }, () => ({ status: 200 }) as never);
  it.each<[what: string, headers: OutgoingHttpHeaders, status: number]>([
    ["of another version", { "sec-websocket-version": "8" }, 426],
    ["of no version", { "sec-websocket-version": undefined }, 426],
    ["from a page of another site", { origin: "https://other.example" }, 403],
    ["that its handler refuses", { ":path": "/refuses" }, 403],
    ["without the subprotocol", { ":path": "/needs" }, 400],
    ["for a route that is no WebSocket", { ":path": "/ok" }, 501],
    ["for a route that answers anything", { ":path": "/any" }, 501],
    ["for no route", { ":path": "/none" }, 501],
    ["for another protocol", { ":protocol": "connect-udp" }, 501],
    ["without a valid host", { ":authority": "a@b" }, 400],
  ])("%s is refused: %o, %i", async (_what, headers, status) => {
    const { session } = await sessionWith([echo, ok, refusing, needs, taken]);
    const client = new SocketClient(session, headers);
    expect((await client.response)[":status"]).toBe(status);
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
  });

  it("that a middleware answers with a 2xx is reset with CANCEL, and is not treated as an open socket", async () => {
    const instead: Middleware = () => new Response("instead");
    const { session } = await sessionWith([echo, ok], { middleware: [instead] });
    await expect(new SocketClient(session).response).rejects.toThrow("reset with 8");
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("instead");
  });

  it("is reset with PROTOCOL_ERROR when no route is a WebSocket", async () => {
    const { port } = await start([ok], { http2: true });
    const client = await FrameClient.to(port);
    const head = { ":scheme": "http", ":authority": "h", ...connects };
    client.write("headers", 4, 1, headerBlock(Object.entries(head)));
    client.write("headers", 5, 3, requestBlock("/ok"));
    await eventually(() => expect([client.resets, client.bytes]).toEqual([[[1, 1]], 2]));
  });
});

describe("http2: a WebSocket whose client disconnects", () => {
  it.each<[how: string, leave: (client: SocketClient, session: ClientHttp2Session) => void]>([
    ["resets its stream", ({ stream }) => stream.close(8)],
    ["ends its stream without a Close frame", ({ stream }) => stream.end()],
    ["loses its connection", (_, session) => session.destroy()],
  ])("ends its handler when its client %s", async (_how, leave) => {
    const ended = gate<string>();
    const route = socket(async (socket) => {
      const got = await socket.receive();
      ended.open(got.ok ? got.value : got.error.kind);
    });
    const { client, session } = await opened(route);
    leave(client, session);
    expect(await ended.passed).toBe("lost");
  });

  it("ends its handler when its client ended its side before it was opened", async () => {
    const ended = gate();
    const handler = { isOver: false };
    const waited = Dep.join({}, () => ended.passed.then(() => "waited"));
    const returns = Returns.websocket(texts, { keepAliveMs: 600_000 });
    const route = get(Path.of("s"), { inputs: { waited }, returns }, () => async (socket) => {
      handler.isOver = !(await socket.receive()).ok;
    });
    const { session } = await sessionWith([route, ok]);
    const client = new SocketClient(session);
    client.stream.end();
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
    ended.open();
    await eventually(() => expect(handler).toEqual({ isOver: true }));
  });

  it("ends its handler when its client resets it without an error during a send", async () => {
    const ended = gate<string>();
    const route = socket(async (socket) => {
      let sent = await socket.send("x".repeat(1000));
      while (sent.ok) sent = await socket.send("x".repeat(1000));
      ended.open(sent.error.kind);
    });
    const { port } = await start([route, ok], { http2: true });
    const client = await FrameClient.to(port);
    client.write("headers", 5, 1, requestBlock("/ok"));
    await eventually(() => expect(client.bytes).toBe(2));
    // The server allows such a CONNECT once its settings are acknowledged.
    client.write("settings", 1, 0);
    const head = { ":scheme": "http", ":authority": "h", ...connects };
    client.write("headers", 4, 3, headerBlock(Object.entries(head)));
    await eventually(() => expect(client.bytes).toBeGreaterThan(1000));
    client.write("reset", 0, 3, Buffer.alloc(4));
    expect(await ended.passed).toBe("lost");
  });
});

describe("http2: an open WebSocket", () => {
  it("receives and sends messages, short and long, next to other streams", async () => {
    const { session, client } = await opened(echo);
    client.send(frame(0x81, "hello"));
    await client.hears("\x81\x05hello");
    const long = "x".repeat(300_000);
    client.received = Buffer.alloc(0);
    client.send(frame(0x81, long));
    await eventually(() => expect(client.received.length).toBe(10 + long.length));
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
    await new SocketClient(session).send(frame(0x81, "2")).hears("\x81\x012");
  });

  it("compresses as over HTTP/1.1", async () => {
    const offer = { "sec-websocket-extensions": "permessage-deflate; client_max_window_bits" };
    const route = socket(
      async (socket) => {
        for await (const text of socket) await socket.send(text.repeat(100));
      },
      { compression: { minBytes: 100 } },
    );
    const { client, response } = await opened(route, {}, offer);
    const agreed = "permessage-deflate; server_no_context_takeover; client_no_context_takeover; ";
    expect(response["sec-websocket-extensions"]).toContain(agreed);
    client.send(frame(0xc1, deflateRawSync("abcdefghij").subarray()));
    await eventually(() => expect(client.received.length).toBeGreaterThan(2));
    expect(client.received[0]).toBe(0xc1);
    const text = inflateRawSync(Buffer.concat([client.received.subarray(2), Buffer.from([0, 0, 0xff, 0xff, 3, 0])]));
    expect(text.toString()).toBe("abcdefghij".repeat(100));
  });

  it("is closed by its server with a Close frame and END_STREAM, and by its client", async () => {
    const { client } = await opened(socket(async () => {}));
    await client.hears(Buffer.from([0x88, 2, 3, 0xe8]));
    client.stream.end(frame(0x88, Buffer.from([3, 0xe8])));
    await once(client.stream, "close");
    expect(client.stream.rstCode).toBe(0);
    expect(client.stream.readableEnded).toBe(true);
  });

  it("is closed with RST_STREAM when its client violates the protocol, and the connection stays open", async () => {
    const { client, session } = await opened(echo);
    client.send(Buffer.from([0x81, 0x01, 0x61]));
    await once(client.stream, "close");
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
  });

  it("is closed with 1009 for a message above its limit", async () => {
    const { client } = await opened(socket(async (socket) => void (await socket.receive()), { maxMessage: 10 }));
    client.send(frame(0x81, "x".repeat(11)));
    await eventually(() => expect(client.received.subarray(0, 4)).toEqual(Buffer.from([0x88, 2, 3, 0xf1])));
  });
});

describe("http2: the limits of a WebSocket", () => {
  it("disconnect a client that does not read for sendTimeoutMs, and affect no other stream", async () => {
    holdClock();
    const sent = gate<boolean>();
    const route = get(Path.of("s"), { returns: Returns.websocket(bytes) }, () => async (socket) => {
      for (;;) {
        const room = await socket.send(new Uint8Array(50_000));
        if (!room.ok) return sent.open(room.ok);
      }
    });
    const { client, session } = await opened(route, { sendTimeoutMs: 1000 });
    client.stream.pause();
    await eventually(() => {
      vi.advanceTimersByTime(600);
      expect(client.stream.closed || messages("info").length > 100).toBe(true);
    });
    expect(await sent.passed).toBe(false);
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
  });

  it("apply to a long message that is being transferred, in both directions", async () => {
    const received = gate<unknown>();
    const route = get(
      Path.of("s"),
      { returns: Returns.websocket(bytes, { keepAliveMs: 400 }) },
      () => async (socket) => {
        await socket.send(new Uint8Array(1_000_000));
        const message = await socket.receive();
        received.open(message.ok ? message.value.length : message.error);
      },
    );
    const { client } = await opened(route);
    const { stream } = client;
    await new Promise<void>((resolve) => {
      let taken = 0;
      stream.removeAllListeners("data").on("data", (part: Buffer) => {
        taken += part.length;
        if (taken > 1_000_000) resolve();
        stream.pause();
        setTimeout(() => stream.resume(), 20);
      });
    });
    for (const byte of frame(0x82, "a long message")) {
      client.send(Buffer.of(byte));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(await received.passed).toBe(14);
  });

  it("hold no more than one window of unread data", async () => {
    const { client } = await opened(
      socket(() => new Promise(() => {}), { maxMessage: 10_000_000 }),
      {},
    );
    let written = 0;
    const part = frame(0x81, "x".repeat(16_000));
    const send = (): unknown =>
      client.stream.write(part, (error) => {
        if (!error && ++written < 200) send();
      });
    send();
    await eventually(() => expect(written).toBeGreaterThan(3));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(written).toBeLessThan(40);
  });

  it("end it with 1001 when the server stops", async () => {
    const { client, server } = await opened(echo, { drainMs: 10_000 });
    const stopped = server.stop();
    await eventually(() => expect(client.received.subarray(2, 4)).toEqual(Buffer.from([3, 0xe9])));
    client.stream.end(frame(0x88, Buffer.from([3, 0xe9])));
    expect(await stopped).toBe(0);
    expect(messages("info")).toContain("socket on /s ended: server stopped");
  });
});

describe.skipIf(browser.isSkipped)(`http2: a WebSocket of Chromium${browser.why}`, () => {
  it("include that it is a stream of the page's own connection", async () => {
    const { cert, key } = makeCertificate({ name: "localhost", hosts: ["localhost", "127.0.0.1"] });
    const page = get(Path.of("page"), { returns: Returns.html }, () => "<title>page</title>");
    const upgrades: boolean[] = [];
    const note: Middleware = ({ path, headers }, next) => {
      if (path === "/s") upgrades.push([...headers].some(([name]) => name === "upgrade"));
      return next();
    };
    const server = await start([page, echo], { tls: { cert, key }, http2: true, middleware: [note] });
    const context = await (await sharedBrowser()).newContext({ ignoreHTTPSErrors: true });
    try {
      const tab = await context.newPage();
      await tab.goto(`${server.url}/page`);
      const heard = await tab.evaluate(`new Promise((resolve, reject) => {
        const socket = new WebSocket("wss://" + location.host + "/s");
        socket.onopen = () => socket.send("hello");
        socket.onerror = () => reject(new Error("failed"));
        socket.onmessage = ({ data }) => resolve(data);
      })`);
      expect(heard).toBe("hello");
      // A GET of HTTP/1.1 has the header.
      expect(upgrades).toEqual([false]);
    } finally {
      await context.close();
    }
  });
});
