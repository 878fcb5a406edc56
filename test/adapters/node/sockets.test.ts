/** WebSockets over `node:http` and `ws` (contract 4.3; facts 7; rows WS). */
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { Broadcast, Path, Refusal, Returns, Socket, get, refuse, setCookie, Cookie, Codec } from "usher-http";
import type { Route, SocketHandler } from "usher-http";
import { lines, messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";
import { bytes, handshake, open, framed, frame } from "./open-sockets.ts";

const Line = v.object({ text: v.string() });
const lined = Socket.protocol({ client: Socket.json(Line), server: Socket.json(Line) });
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });

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

describe("a WebSocket handshake", () => {
  it("WS-01 is answered with Sec-WebSocket-Accept, and with the request's id", async () => {
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

  it("WS-09 is answered with the subprotocol that both support", async () => {
    const named = get(Path.of("named"), { returns: Returns.websocket(chat) }, () => async () => {});
    const { client, closed } = await open([named], "/named", {}, ["other", "chat"]);
    await closed;
    expect(client.protocol).toBe("chat");
  });

  it("WS-12 accepts no extension", async () => {
    const { client, opened } = await open([echo], "/echo");
    await opened;
    expect(client.extensions).toBe("");
    client.terminate();
  });

  it("WS-14 may be refused with an ordinary answer", async () => {
    const forbidden = Refusal.code("forbidden", { status: 403, doc: "No." });
    const closed = get(Path.of("closed"), { returns: Returns.websocket(texts), refuses: [forbidden] }, () =>
      refuse(forbidden, "Not today."),
    );
    const client = await RawClient.to((await start([closed])).port);
    const answered = await client.ask("GET /closed", handshake).answer();
    expect([answered.status, answered.body]).toEqual([403, '{"error":"forbidden","message":"Not today."}']);
    // The answer to a handshake is the last answer of its connection.
    expect(header(answered, "connection")).toBe("close");
    await client.closed();
  });

  it("is answered with the headers that its handler set", async () => {
    const seen = Cookie.named("seen", Codec.int);
    const sets = get(Path.of("s"), { inputs: { setCookie }, returns: Returns.websocket(texts) }, ({ setCookie }) => {
      setCookie(Cookie.make(seen, 1));
      return async () => {};
    });
    const { head } = await framed([sets], "/s");
    expect(head).toContain("set-cookie: seen=1; Path=/; HttpOnly; Secure; SameSite=Lax");
  });

  it("is not a request for another protocol, which is answered without the upgrade", async () => {
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

describe("a WebSocket: frames", () => {
  it("WS-15, WS-16 carries messages in both directions", async () => {
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

  it("WS-24, WS-25, WS-39 joins fragments, and answers a ping between them", async () => {
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

  it("WS-28, WS-29 answers a close with the same code, or without one", async () => {
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
  ])("%s closes the WebSocket", async (_id, sent, code) => {
    const { client } = await framed([echoText], "/s");
    client.send(sent);
    const [first, , high = 0, low = 0] = await client.bytes(4);
    expect([first, high * 256 + low]).toEqual([0x88, code]);
    await client.closed();
    await eventually(() => expect(lines().at(-1)).toMatchObject({ "framework.websocket.close_code": code }));
  });
});

describe("a WebSocket: limits and errors", () => {
  it("a message above its limit is not read, and closes it with 1009", async () => {
    const { client, opened, closed } = await open(
      [speaking(async (socket) => void (await socket.receive()), 10)],
      "/s",
    );
    await opened;
    client.send("x".repeat(11));
    expect((await closed)[0]).toBe(1009);
    await eventually(() => expect(lines().at(-1)).toMatchObject({ "framework.websocket.close_code": 1009 }));
  });

  it("WS-18 closes with 1011 when its handler throws", async () => {
    const { closed } = await open([speaking(() => Promise.reject(new Error("secret")))], "/s");
    expect(await closed).toEqual([1011, "Something went wrong at our end."]);
    await eventually(() => expect(messages("info").at(-1)).toBe("socket on /s ended: its handler raised"));
    expect(JSON.stringify(lines())).not.toContain("secret");
  });

  it("WS-21 pings a client that is quiet, and disconnects one that does not answer", async () => {
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

describe("a room", () => {
  /** A member who says what the client sends, and sends what the room says. */
  const inRoom = (): Route => {
    const hub = Broadcast.create<typeof texts.server>();
    return speaking(async (socket) => {
      const room = hub.subscribe("room");
      const sending = (async () => {
        for await (const line of room) if (!(await socket.send(line)).ok) return;
        await socket.close();
      })();
      for await (const line of socket) hub.publish("room", Socket.encode(texts.server, line));
      room.unsubscribe();
      await sending;
    });
  };

  it("keeps a member who reads, however many messages one sends at once", async () => {
    const { client } = await framed([inRoom()], "/s");
    client.send(Buffer.concat(Array.from({ length: 300 }, () => frame(0x81, "x"))));
    expect((await client.bytes(900)).toString("latin1")).toBe("\x81\x01x".repeat(300));
  });

  it("keeps it where its sends give others a turn", async () => {
    const { client } = await framed([inRoom()], "/s");
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (now += 20));
    client.send(Buffer.concat(Array.from({ length: 3000 }, () => frame(0x81, "x"))));
    expect((await client.bytes(9000)).toString("latin1")).toBe("\x81\x01x".repeat(3000));
  });
});
