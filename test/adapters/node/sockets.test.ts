/** WebSockets over `node:http` and `ws` (contract 4.3; facts 7; rows WS). */
import * as v from "valibot";
import { connect } from "node:net";
import type { Socket as NetSocket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import {
  Broadcast,
  Path,
  Refusal,
  Returns,
  Socket,
  clientGone,
  get,
  refuse,
  setCookie,
  Cookie,
  Codec,
} from "usher-http";
import type { Route, SocketHandler } from "usher-http";
import type { ServeOptions } from "usher-http/node";
import { lines, messages } from "../../support/logs.ts";
import { gate, start } from "../../support/node-server.ts";
import { RawClient, turns } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";

const Line = v.object({ text: v.string() });
const lined = Socket.protocol({ client: Socket.json(Line), server: Socket.json(Line) });
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const bytes = Socket.protocol({ client: Socket.binary, server: Socket.binary });
const chat = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: "chat" });

const echo = get(Path.of("echo"), { returns: Returns.websocket(lined) }, () => async (socket) => {
  for await (const line of socket) await socket.send(line);
});
const echoBytes = get(Path.of("bytes"), { returns: Returns.websocket(bytes) }, () => async (socket) => {
  for await (const part of socket) await socket.send(part);
});
const speaking = (handler: SocketHandler<string, string>, maxMessage = 1_048_576): Route =>
  get(Path.of("s"), { returns: Returns.websocket(texts, { maxMessage }) }, () => handler);
const echoText = speaking(async (socket) => {
  for await (const text of socket) await socket.send(text);
});

const handshake = [
  "upgrade: websocket",
  "connection: Upgrade",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version: 13",
];

/** A client of the platform's kind, and what it hears. */
async function open(routes: readonly Route[], path: string, options: ServeOptions = {}, protocols: string[] = []) {
  const server = await start(routes, options);
  const client = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, protocols);
  const heard: (string | Buffer)[] = [];
  const closed = gate<readonly [code: number, reason: string]>();
  const opened = gate();
  client.on("open", () => opened.open());
  client.on("message", (data, isBinary) => heard.push(isBinary ? (data as Buffer) : String(data)));
  client.on("close", (code, reason) => closed.open([code, reason.toString()]));
  client.on("error", () => {});
  return { server, client, heard, opened: opened.passed, closed: closed.passed };
}

/** A client of frames, past its handshake. */
class Frames {
  readonly socket: NetSocket;
  #bytes = Buffer.alloc(0);
  #isClosed = false;
  #wake = (): void => {};

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1" });
    this.socket.on("data", (part: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, part]);
      this.#wake();
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  send(bytes: Buffer | string): this {
    this.socket.write(bytes);
    return this;
  }

  /** The next bytes that came, so many of them. */
  async bytes(length: number): Promise<Buffer> {
    await this.#until(() => this.#bytes.length >= length);
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  async head(): Promise<string> {
    await this.#until(() => this.#bytes.includes("\r\n\r\n"));
    return (await this.bytes(this.#bytes.indexOf("\r\n\r\n") + 4)).toString();
  }

  closed(): Promise<void> {
    return this.#until(() => this.#isClosed);
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#isClosed) throw new Error(`closed, with ${this.#bytes.toString("hex")} left`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

const clients: Frames[] = [];
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.destroy();
});

async function framed(routes: readonly Route[], path: string, options: ServeOptions = {}) {
  const server = await start(routes, options);
  const client = new Frames(server.port);
  clients.push(client);
  client.send(`GET ${path} HTTP/1.1\r\nhost: a\r\n${handshake.join("\r\n")}\r\n\r\n`);
  return { server, client, head: (await client.head()).split("\r\n") };
}

/** A frame as a client sends it, masked with zeros. */
function frame(first: number, payload: Buffer | string = ""): Buffer {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from([first, 0x80 | bytes.length, 0, 0, 0, 0]), bytes]);
}

describe("a handshake", () => {
  it("WS-01 is answered with what proves it was read, and with the request's id", async () => {
    const { head } = await framed([echo], "/echo");
    expect(head).toEqual([
      "HTTP/1.1 101 Switching Protocols",
      "upgrade: websocket",
      "connection: Upgrade",
      "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
      expect.stringMatching(/^x-request-id: [0-9a-z]{12}$/),
      "",
      "",
    ]);
  });

  it("WS-06 of HTTP/1.0 is a 426", async () => {
    const server = await start([echo]);
    const client = await RawClient.to(server.port);
    client.send(`GET /echo HTTP/1.0\r\nhost: a\r\n${handshake.join("\r\n")}\r\n\r\n`);
    expect((await client.answer()).status).toBe(426);
  });

  it("WS-09 names the subprotocol that both speak", async () => {
    const named = get(Path.of("named"), { returns: Returns.websocket(chat) }, () => async () => {});
    const { client, closed } = await open([named], "/named", {}, ["other", "chat"]);
    await closed;
    expect(client.protocol).toBe("chat");
  });

  it("WS-12 agrees on no extension", async () => {
    const { client, opened } = await open([echo], "/echo");
    await opened;
    expect(client.extensions).toBe("");
    client.terminate();
  });

  it("WS-14 may be refused, with an answer like any other", async () => {
    const forbidden = Refusal.code("forbidden", { status: 403, doc: "No." });
    const closed = get(Path.of("closed"), { returns: Returns.websocket(texts), refuses: [forbidden] }, () =>
      refuse(forbidden, "Not today."),
    );
    const client = await RawClient.to((await start([closed])).port);
    const answered = await client.ask("GET /closed", handshake).answer();
    expect([answered.status, answered.body]).toEqual([403, '{"error":"forbidden","message":"Not today."}']);
    await client.closed();
  });

  it("carries what its handler set", async () => {
    const seen = Cookie.named("seen", Codec.int);
    const sets = get(Path.of("s"), { inputs: { setCookie }, returns: Returns.websocket(texts) }, ({ setCookie }) => {
      setCookie(Cookie.make(seen, 1));
      return async () => {};
    });
    const { head } = await framed([sets], "/s");
    expect(head).toContain("set-cookie: seen=1; Path=/; HttpOnly; Secure; SameSite=Lax");
  });

  it("beside it, a request for another protocol is answered as if it had not asked", async () => {
    const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");
    const server = await start([echo, hello]);
    const client = await RawClient.to(server.port);
    const answered = await client.ask("GET /hello", ["connection: Upgrade", "upgrade: h2c"]).answer();
    expect([answered.status, answered.body]).toEqual([200, "hi"]);
    const other = await RawClient.to(server.port);
    const none = await other.ask("GET /nothing", handshake).answer();
    expect(none.status).toBe(404);
  });
});

describe("a socket: frames", () => {
  it("WS-15, WS-16 carries messages each way, whole", async () => {
    const { client, heard, opened, closed } = await open([echo], "/echo");
    await opened;
    const long = JSON.stringify({ text: "é".repeat(100_000) });
    client.send('{"text":"hello"}');
    client.send(long);
    await eventually(() => expect(heard).toHaveLength(2));
    expect(heard).toEqual(['{"text":"hello"}', long]);
    client.close(1000);
    expect(await closed).toEqual([1000, ""]);
  });

  it("WS-24, WS-25, WS-39 puts fragments together, and answers a ping between them", async () => {
    const { client } = await framed([echoText], "/s");
    const [one, other] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
    client.send(frame(0x01, "hel")).send(frame(0x00, "l")).send(frame(0x89, "p")).send(frame(0x80, "o"));
    client.send(frame(0x01, one)).send(frame(0x80, other)).send(frame(0x8a));
    expect(await client.bytes(3 + 7 + 4)).toEqual(
      Buffer.concat([
        Buffer.from([0x8a, 1]),
        Buffer.from("p"),
        Buffer.from([0x81, 5]),
        Buffer.from("hello"),
        Buffer.from([0x81, 2]),
        Buffer.from("é"),
      ]),
    );
  });

  it("WS-28, WS-29 answers a close with its code, or with none", async () => {
    const { client } = await framed([echoText], "/s");
    client.send(frame(0x88, Buffer.from([0x03, 0xe9])));
    expect(await client.bytes(4)).toEqual(Buffer.from([0x88, 2, 0x03, 0xe9]));
    const none = await framed([echoText], "/s");
    none.client.send(frame(0x88));
    expect(await none.client.bytes(2)).toEqual(Buffer.from([0x88, 0]));
    await none.client.closed();
  });

  it("WS-30 carries bytes", async () => {
    const { client, heard, opened } = await open([echoBytes], "/bytes");
    await opened;
    client.send(Buffer.from([0, 255, 1]));
    await eventually(() => expect(heard).toEqual([Buffer.from([0, 255, 1])]));
    client.terminate();
  });

  it.each([
    ["WS-31 an unmasked frame", Buffer.from([0x81, 1, 0x61]), 1002],
    ["WS-33 an opcode no frame has", frame(0x83), 1002],
    ["WS-34 a fragmented control frame", frame(0x09), 1002],
    ["WS-36 a continuation of nothing", frame(0x80, "x"), 1002],
    ["WS-37 a new message before the last one ended", Buffer.concat([frame(0x01, "a"), frame(0x81, "b")]), 1002],
    ["a reserved bit", frame(0xc1, "x"), 1002],
    ["WS-40 text that is no UTF-8", frame(0x81, Buffer.from([0xc3, 0x28])), 1007],
    ["WS-42 a close reason that is no UTF-8", frame(0x88, Buffer.from([3, 0xe8, 0xc3, 0x28])), 1007],
    ["WS-43 bytes where text is due", frame(0x82, "x"), 1003],
  ])("%s closes it", async (_id, sent, code) => {
    const { client } = await framed([echoText], "/s");
    client.send(sent);
    const [first, , high = 0, low = 0] = await client.bytes(4);
    expect([first, high * 256 + low]).toEqual([0x88, code]);
  });
});

describe("a socket: limits and faults", () => {
  it("a message past its limit closes it with 1009, unread", async () => {
    const { client, opened, closed } = await open(
      [speaking(async (socket) => void (await socket.receive()), 10)],
      "/s",
    );
    await opened;
    client.send("x".repeat(11));
    expect((await closed)[0]).toBe(1009);
  });

  it("WS-18 closes with 1011 where its handler raises", async () => {
    const { closed } = await open([speaking(() => Promise.reject(new Error("secret")))], "/s");
    expect(await closed).toEqual([1011, "Something went wrong at our end."]);
    await eventually(() => expect(messages("info").at(-1)).toBe("socket on /s ended: its handler raised"));
    expect(JSON.stringify(lines())).not.toContain("secret");
  });

  it("WS-21 pings a client that is quiet, and loses one that is silent", async () => {
    const quiet = get(
      Path.of("s"),
      { returns: Returns.websocket(texts, { keepAliveMs: 30 }) },
      () => async (socket) => {
        await socket.receive();
      },
    );
    const { client } = await framed([quiet], "/s");
    expect(await client.bytes(2)).toEqual(Buffer.from([0x89, 0]));
    await client.closed();
    await eventually(() => expect(messages("info").at(-1)).toBe("socket on /s ended: lost: nothing heard for 0.06s"));
  });
});

describe("a socket: a client that goes", () => {
  it("tells its handler of a client that vanished", async () => {
    const ended = gate<unknown>();
    const hears = speaking(async (socket) => {
      const received = await socket.receive();
      ended.open(received.ok ? undefined : received.error);
    });
    const { client } = await framed([hears], "/s");
    client.socket.resetAndDestroy();
    expect(await ended.passed).toEqual({ kind: "lost", detail: expect.any(String) });
  });

  it.each(["destroy", "resetAndDestroy"] as const)(
    "notices that a client went whose messages nobody takes: by %s",
    async (how) => {
      const [speaks, gone] = [gate(), gate()];
      const deaf = get(
        Path.of("s"),
        { inputs: { clientGone }, returns: Returns.websocket(texts, { keepAliveMs: 50 }) },
        ({ clientGone }) =>
          () => {
            clientGone.addEventListener("abort", () => gone.open());
            speaks.open();
            return gone.passed;
          },
      );
      const { server, client } = await framed([deaf], "/s");
      await speaks.passed;
      // One that waits for its handler, and one that waits to be read, and keeps the end behind it from being seen.
      for (const text of ["one", "two"]) {
        client.send(frame(0x81, text));
        await turns(server.port);
      }
      client.socket[how]();
      await gone.passed;
      await eventually(() => expect(messages("info").at(-1)).toContain("socket on /s ended: lost"));
    },
  );

  it("loses a client that takes nothing more while a send waits, also where another was over meanwhile", async () => {
    const isOnItsWay = gate();
    const ended = gate<unknown>();
    const message = "x".repeat(16_000_000);
    const sends = get(
      Path.of("s"),
      { returns: Returns.websocket(texts, { keepAliveMs: 2 ** 31 - 1 }) },
      () => async (socket) => {
        void socket.send(message);
        const first = socket.send(message);
        // Once the first is written, and not behind it in one write.
        await isOnItsWay.passed;
        const second = socket.send(`${message}${message}${message}`);
        expect((await first).ok).toBe(true);
        ended.open(await second);
      },
    );
    const { client } = await framed([sends], "/s", { sendTimeoutMs: 300 });
    let taken = 0;
    client.socket.removeAllListeners("data").on("data", (part: Buffer) => {
      taken += part.length;
      if (taken > 16_500_000) isOnItsWay.open();
      if (taken > 32_000_020) client.socket.pause();
    });
    expect(await ended.passed).toEqual({
      ok: false,
      error: { kind: "lost", detail: "nothing written was taken for 0.3s" },
    });
  });
});

describe("a socket: a slow client", () => {
  it("waits for a client that reads slowly, and fills no memory with what it has not taken", async () => {
    let sent = 0;
    const floods = speaking(async (socket) => {
      while ((await socket.send("x".repeat(65_536))).ok) sent++;
    });
    const { client } = await framed([floods], "/s");
    client.socket.pause();
    let before = -1;
    // Until nothing moves any more: all there is room for is sent.
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(1000);
    client.socket.destroy();
    await eventually(() => expect(messages("info").at(-1)).toContain("socket on /s ended"));
  });

  it("has what was sent before a close come whole, however slow its client is, and the close behind it", async () => {
    const large = "x".repeat(16_777_216);
    const { port } = await start([speaking(async (socket) => void (await socket.send(large)))]);
    const client = await RawClient.to(port);
    expect((await client.ask("GET /s", handshake).answer()).status).toBe(101);
    client.socket.pause();
    // Longer than a close is waited for, once it is out.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    client.socket.resume();
    expect((await client.frame()).payload.length).toBe(large.length);
    expect(await client.frame()).toEqual({ first: 0x88, payload: "\u0003\u00e8" });
    await eventually(() => expect(messages("info").at(-1)).toBe("socket on /s ended: closed"));
  });

  it("loses a client that takes nothing of what was sent before a close", async () => {
    const closes = speaking(async (socket) => void (await socket.send("x".repeat(16_777_216))));
    const { port } = await start([closes], { sendTimeoutMs: 100 });
    const client = await RawClient.to(port);
    expect((await client.ask("GET /s", handshake).answer()).status).toBe(101);
    client.socket.pause();
    await eventually(() => expect(messages("info").at(-1)).toBe("socket on /s ended: closed"));
    client.socket.resume();
    await expect(client.frame()).rejects.toThrow("the connection ended before a frame of 16777216 bytes");
  });
});

describe("a socket: the end", () => {
  it("closes with 1001 when the server stops", async () => {
    const { server, closed, opened } = await open([echo], "/echo", { drainMs: 600_000 });
    await opened;
    const stopped = server.stop();
    expect(await closed).toEqual([1001, "The server is stopping."]);
    expect(await stopped).toBe(0);
  });

  it("WS-22 is a room over a hub", async () => {
    const hub = Broadcast.create<typeof lined.server>();
    const room = get(Path.of("room"), { returns: Returns.websocket(lined) }, () => async (socket) => {
      const subscription = hub.subscribe("room");
      const telling = (async () => {
        for await (const line of subscription) if (!(await socket.send(line)).ok) return;
        await socket.close();
      })();
      try {
        for await (const line of socket) hub.publish("room", Socket.encode(lined.server, line));
      } finally {
        subscription.unsubscribe();
      }
      await telling;
    });
    const one = await open([room], "/room");
    await one.opened;
    const other = new WebSocket(`ws://127.0.0.1:${one.server.port}/room`);
    const heard: string[] = [];
    other.on("message", (data) => heard.push(String(data)));
    await new Promise((resolve) => other.once("open", resolve));
    await eventually(() => expect(hub.subscribers("room")).toHaveLength(2));
    const line = '{"text":"hello"}';
    one.client.send(line);
    await eventually(() => expect([one.heard, heard]).toEqual([[line], [line]]));
    // What ends it in an error leaves the room too.
    other.send("no line");
    await eventually(() => expect(hub.subscribers("room")).toHaveLength(1));
    hub.close();
    expect(await one.closed).toEqual([1000, ""]);
    expect(hub.topics()).toEqual([]);
  });
});
