/** The ends of WebSockets over Node. */
import { Socket as Connection } from "node:net";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { Broadcast, Path, Returns, Socket, clientGone, get } from "usher-http";
import type { Route, SocketHandler } from "usher-http";
import { messages } from "../../support/logs.ts";
import { gate, start } from "../../support/node-server.ts";
import { RawClient, turns } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";
import { WsTransport } from "../../../adapters/node/socket.ts";
import { handshake, open, framed, frame } from "./open-sockets.ts";

const Line = v.object({ text: v.string() });
const lined = Socket.protocol({ client: Socket.json(Line), server: Socket.json(Line) });
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });

const echo = get(Path.of("echo"), { returns: Returns.websocket(lined) }, () => async (socket) => {
  for await (const line of socket) await socket.send(line);
});

const speaking = (handler: SocketHandler<string, string>, maxMessage = 1_048_576): Route =>
  get(Path.of("s"), { returns: Returns.websocket(texts, { maxMessage }) }, () => handler);

describe("a WebSocket: a client that disconnects", () => {
  it("notifies its handler of a client that vanished", async () => {
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
    "notices a disconnect although its messages are not read: by %s",
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
      // One waits for its handler, and the other waits to be read, and hides the end that follows it.
      for (const text of ["one", "two"]) {
        client.send(frame(0x81, text));
        await turns(server.port);
      }
      client.socket[how]();
      await gone.passed;
      await eventually(() => expect(messages("info").at(-1)).toContain("socket on /s ended: lost"));
    },
  );

  it("ends for a client that stops reading during a send, also after an earlier send succeeded", async () => {
    const isOnItsWay = gate();
    const ended = gate<unknown>();
    const message = "x".repeat(16_000_000);
    const sends = get(
      Path.of("s"),
      { returns: Returns.websocket(texts, { keepAliveMs: 2 ** 31 - 1 }) },
      () => async (socket) => {
        void socket.send(message);
        const first = socket.send(message);
        // After the first is written, and not in one write with it.
        await isOnItsWay.passed;
        const second = socket.send(`${message}${message}${message}`);
        expect((await first).ok).toBe(true);
        ended.open(await second);
      },
    );
    const { client } = await framed([sends], "/s", { sendTimeoutMs: 2000 });
    let taken = 0;
    client.socket.removeAllListeners("data").on("data", (part: Buffer) => {
      taken += part.length;
      if (taken > 16_500_000) isOnItsWay.open();
      if (taken > 32_000_020) client.socket.pause();
    });
    expect(await ended.passed).toEqual({
      ok: false,
      error: { kind: "lost", detail: "nothing written was taken for 2s" },
    });
  });
});

describe("a WebSocket: a slow client", () => {
  it("that has read every message may be quiet: the time limit of a send ends with the send", async () => {
    // No other time limit is this long.
    const sendTimeoutMs = 654_321;
    const timeouts = vi.spyOn(Connection.prototype, "setTimeout");
    const [written, quiet] = [gate(), gate()];
    const sends = speaking(async (socket) => {
      for (let i = 0; i < 64; i++) await socket.send("x".repeat(1_048_576));
      written.open();
      await quiet.passed;
    });
    const { client } = await framed([sends], "/s", { sendTimeoutMs });
    client.socket.pause();
    const waiting = () => timeouts.mock.calls.findIndex(([ms]) => ms === sendTimeoutMs);
    await eventually(() => expect(waiting()).not.toBe(-1));
    const connection = timeouts.mock.contexts[waiting()] as Connection;
    client.socket.removeAllListeners("data").resume();
    await written.passed;
    const last = timeouts.mock.contexts.lastIndexOf(connection);
    expect(timeouts.mock.calls[last]?.[0]).toBe(0);
    expect(connection.listenerCount("timeout")).toBe(0);
    timeouts.mockRestore();
    quiet.open();
  });

  it("blocks the sender, and unread messages fill no memory", async () => {
    let sent = 0;
    const floods = speaking(async (socket) => {
      while ((await socket.send("x".repeat(65_536))).ok) sent++;
    });
    const { client } = await framed([floods], "/s");
    client.socket.pause();
    let before = -1;
    // Until nothing moves: all buffers are full.
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(1000);
    client.socket.destroy();
    await eventually(() => expect(messages("info").at(-1)).toContain("socket on /s ended"));
  });

  it("is noticed to read, and not to read", async () => {
    const sending = vi.spyOn(WsTransport.prototype, "send");
    const sends = speaking(async (socket) => void (await socket.send("x".repeat(64_000_000))));
    const { client } = await framed([sends], "/s");
    client.socket.removeAllListeners("data").pause();
    const transport = sending.mock.contexts[0] as WsTransport;
    sending.mockRestore();
    const settled = async (): Promise<number> => {
      let before = -1;
      while (before !== transport.progress()) {
        before = transport.progress();
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      return before;
    };
    const before = await settled();
    let taken = 0;
    client.socket.on("data", (part: Buffer) => {
      taken += part.length;
      if (taken > 32_000_000) client.socket.pause();
    });
    client.socket.resume();
    await eventually(() => expect(taken).toBeGreaterThan(32_000_000));
    expect(await settled()).toBeGreaterThan(before + 20_000_000);
  });
});

describe("a WebSocket: a long message", () => {
  it("does not time out while it arrives", async () => {
    const received = gate<unknown>();
    const hears = get(
      Path.of("s"),
      { returns: Returns.websocket(texts, { keepAliveMs: 400 }) },
      () => async (socket) => received.open(await socket.receive()),
    );
    const { client } = await framed([hears], "/s");
    for (const byte of frame(0x81, "a long message")) {
      client.send(Buffer.of(byte));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(await received.passed).toEqual({ ok: true, value: "a long message" });
  });

  it("arrives whole before a close, however slow the client is, and then the close", async () => {
    const large = "x".repeat(16_777_216);
    const { port } = await start([speaking(async (socket) => void (await socket.send(large)))]);
    const client = await RawClient.to(port);
    expect((await client.ask("GET /s", handshake).answer()).status).toBe(101);
    client.socket.pause();
    // Longer than the time limit of a close, after the close is sent.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    client.socket.resume();
    expect((await client.frame()).payload.length).toBe(large.length);
    expect(await client.frame()).toEqual({ first: 0x88, payload: "\u0003\u00e8" });
    await eventually(() => expect(messages("info").at(-1)).toBe("socket on /s ended: closed"));
  });

  it("before a close ends for a client that does not read it", async () => {
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

describe("a WebSocket: its end", () => {
  it("waits only for the client's close, also if its handler left messages unread", async () => {
    const once = speaking(async (socket) => {
      await socket.receive();
    });
    const { client } = await framed([once], "/s");
    // The time limit of the answer never expires here.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    client.send(Buffer.concat(["one", "two", "three"].map((text) => frame(0x81, text))));
    const close = Buffer.from([0x03, 0xe8]);
    expect(await client.bytes(4)).toEqual(Buffer.concat([Buffer.from([0x88, 2]), close]));
    client.send(frame(0x88, close));
    await client.closed();
    await eventually(() => expect(messages("info").at(-1)).toBe("socket on /s ended: closed"));
  });

  it("closes with 1001 when the server stops", async () => {
    const { server, closed, opened } = await open([echo], "/echo", { drainMs: 600_000 });
    await opened;
    const stopped = server.stop();
    expect(await closed).toEqual([1001, "The server is stopping."]);
    expect(await stopped).toBe(0);
    expect(messages("info")).toContain("socket on /echo ended: server stopped");
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
    // A socket that ends with an error leaves the room too.
    other.send("no line");
    await eventually(() => expect(hub.subscribers("room")).toHaveLength(1));
    hub.close();
    expect(await one.closed).toEqual([1000, ""]);
    expect(hub.topics()).toEqual([]);
  });
});
