/** WebSockets without a network (contract 4.3; facts 7; rows WS). The frames of each runtime are tested on it. */
import * as v from "valibot";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Broadcast, Log, Path, Returns, Socket, Test, get } from "usher-http";
import type { SocketEnd, SocketHandler } from "usher-http";
import { eventually } from "../support/eventually.ts";
import { lines, messages } from "../support/logs.ts";

const Line = v.object({ text: v.string() });
const echoing = Socket.protocol({ client: Socket.json(Line), server: Socket.json(Line) });
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const echo = get(Path.of("echo"), { returns: Returns.websocket(echoing) }, () => async (socket) => {
  for await (const line of socket) await socket.send(line);
});

const speaking = (handler: SocketHandler<string, string>) =>
  Test.app([get(Path.of("s"), { returns: Returns.websocket(texts) }, () => handler)]);

afterEach(() => vi.useRealTimers());

describe("a socket: messages", () => {
  it("WS-15, WS-16 carries typed messages in both directions, of any length", async () => {
    const long = { text: "x".repeat(100_000) };
    const heard = await Test.websocket(Test.app([echo]), echoing, "/echo", async (socket) => {
      await socket.send({ text: "hello" });
      await socket.send(long);
      return [await socket.receive(), await socket.receive()];
    });
    expect(heard).toEqual({
      ok: true,
      value: [
        { ok: true, value: { text: "hello" } },
        { ok: true, value: long },
      ],
    });
  });

  it("WS-30 carries bytes", async () => {
    const bytes = Socket.protocol({ client: Socket.binary, server: Socket.binary });
    const route = get(Path.of("b"), { returns: Returns.websocket(bytes) }, () => async (socket) => {
      for await (const part of socket) await socket.send(part);
    });
    const sent = Uint8Array.of(0, 255, 1);
    const heard = await Test.websocket(Test.app([route]), bytes, "/b", async (socket) => {
      await socket.send(sent);
      return socket.receive();
    });
    expect(heard).toEqual({ ok: true, value: { ok: true, value: sent } });
  });

  it("WS-43 with messages of bytes is closed with 1003 for a text message", async () => {
    const bytes = Socket.protocol({ client: Socket.binary, server: Socket.text });
    const route = get(Path.of("b"), { returns: Returns.websocket(bytes) }, () => async (socket) => {
      for await (const part of socket) void part;
    });
    const heard = await Test.websocket(Test.app([route]), texts, "/b", async (socket) => {
      await socket.send("text");
      return socket.receive();
    });
    const end = { kind: "closed", code: 1003, reason: "a kind of message this socket does not carry" };
    expect(heard).toEqual({ ok: true, value: { ok: false, error: end } });
  });
});

describe("a socket: its handler", () => {
  it("WS-19 is closed with 1000 when its handler returns", async () => {
    const heard = await Test.websocket(
      speaking(async () => {}),
      texts,
      "/s",
      (socket) => socket.receive(),
    );
    expect(heard).toEqual({ ok: true, value: { ok: false, error: { kind: "closed", code: 1000, reason: "" } } });
    expect(lines().at(-1)).toMatchObject({
      level: "info",
      message: "socket on /s ended: closed",
      "url.path": "/s",
      "framework.websocket.ended": "closed",
      "framework.websocket.close_code": 1000,
    });
  });

  it("WS-18 is closed with 1011 when its handler throws, without a reason", async () => {
    const raising = speaking(() => Promise.reject(new TypeError("secret")));
    const heard = await Test.websocket(raising, texts, "/s", (socket) => socket.receive());
    const end = { kind: "closed", code: 1011, reason: "Something went wrong at our end." };
    expect(heard).toEqual({ ok: true, value: { ok: false, error: end } });
    expect(messages("error")).toEqual(["socket on /s: its handler raised"]);
    expect(messages("info").at(-1)).toBe("socket on /s ended: its handler raised");
    expect(lines().at(-1)).toMatchObject({ "framework.websocket.close_code": 1011 });
    expect(JSON.stringify(lines())).not.toContain("secret");
  });

  it("reports an invalid message to its handler, and stays open", async () => {
    const ends: (SocketEnd | undefined)[] = [];
    const route = get(Path.of("echo"), { returns: Returns.websocket(echoing) }, () => async (socket) => {
      for (;;) {
        const received = await socket.receive();
        ends.push(received.ok ? undefined : received.error);
        if (received.ok) await socket.send(received.value);
        else if (received.error.kind !== "unreadable") return;
      }
    });
    await Test.websocket(Test.app([route]), texts, "/echo", async (socket) => {
      await socket.send('{"text":1}');
      await socket.send("not JSON");
      await socket.send("");
      await socket.send('{"text":"ok"}');
      expect(await socket.receive()).toEqual({ ok: true, value: '{"text":"ok"}' });
    });
    expect(ends).toEqual([
      { kind: "unreadable", detail: "body.text unexpected_type" },
      { kind: "unreadable", detail: "body malformed" },
      { kind: "unreadable", detail: "body malformed" },
      undefined,
      { kind: "closed", code: 1000, reason: "" },
    ]);
  });
});

describe("a socket: reading", () => {
  it.each<[string, SocketHandler<{ text: string }, { text: string }>]>([
    [
      "iterates over",
      async (socket) => {
        for await (const line of socket) void line;
      },
    ],
    [
      "returns",
      async (socket) => {
        const received = await socket.receive();
        return received.ok ? undefined : received.error;
      },
    ],
  ])("is closed with 1007 when its handler %s an invalid message", async (_how, handler) => {
    const route = get(Path.of("s"), { returns: Returns.websocket(echoing) }, () => handler);
    const heard = await Test.websocket(Test.app([route]), texts, "/s", async (socket) => {
      await socket.send("odd");
      return socket.receive();
    });
    const end = { kind: "closed", code: 1007, reason: "A message this socket could not read." };
    expect(heard).toEqual({ ok: true, value: { ok: false, error: end } });
    expect(lines().at(-1)).toMatchObject({
      level: "info",
      message: "socket on /s ended: a message that could not be read: body malformed",
      "framework.websocket.ended": "a message that could not be read: body malformed",
      "framework.websocket.close_code": 1007,
    });
  });

  it("WS-28 reports a close to its handler after every message before it", async () => {
    const heard: unknown[] = [];
    const hears = speaking(async (socket) => {
      await Promise.resolve();
      for (let received = await socket.receive(); ; received = await socket.receive()) {
        heard.push(received);
        if (!received.ok) return;
      }
    });
    await Test.websocket(hears, texts, "/s", async (socket) => {
      void socket.send("a");
      void socket.send("b");
      await socket.close({ code: 1001, reason: "bye" });
    });
    expect(heard).toEqual([
      { ok: true, value: "a" },
      { ok: true, value: "b" },
      { ok: false, error: { kind: "closed", code: 1001, reason: "bye" } },
    ]);
  });

  it("reads no further message until its handler reads one", async () => {
    let unhold: () => void = () => {};
    const held = new Promise<void>((resolve) => (unhold = resolve));
    const slow = speaking(async (socket) => {
      await held;
      for await (const text of socket) void text;
    });
    await Test.websocket(slow, texts, "/s", async (socket) => {
      let sent = 0;
      const sending = (async () => {
        for (; sent < 10; sent++) await socket.send("x".repeat(32_768));
      })();
      await new Promise(setImmediate);
      expect(sent).toBeLessThan(5);
      unhold();
      await sending;
      expect(sent).toBe(10);
    });
  });
});

it("a socket whose two ends send before they read: neither waits for the other, as over a network", async () => {
  const heard = await Test.websocket(Test.app([echo]), echoing, "/echo", async (socket) => {
    const texts = Array.from({ length: 100 }, (_, i) => `${i}`);
    for (const text of texts) await socket.send({ text });
    for (const text of texts) expect(await socket.receive()).toEqual({ ok: true, value: { text } });
  });
  expect(heard.ok).toBe(true);
});

describe("a socket: closing and sending", () => {
  it("returns closed for a send after a close", async () => {
    const results: unknown[] = [];
    const closes = speaking(async (socket) => {
      void socket.close({ code: 4000, reason: "mine" });
      results.push(await socket.send("late"));
    });
    const heard = await Test.websocket(closes, texts, "/s", (socket) => socket.receive());
    expect(results).toEqual([{ ok: false, error: { kind: "closed", code: 4000, reason: "mine" } }]);
    expect(heard).toEqual({ ok: true, value: { ok: false, error: { kind: "closed", code: 4000, reason: "mine" } } });
  });

  it.each([
    ["WS-51 a code none can send", { code: 1005 }, 1011, "", "closed a socket with the code 1005, which none can send"],
    ["WS-51 123 bytes", { reason: "x".repeat(123) }, 1000, "x".repeat(123), undefined],
    ["WS-51 124 bytes", { reason: "x".repeat(124) }, 1000, "", "closed a socket with a reason longer than 123 bytes"],
    ["WS-51 no text", { reason: "\ud800" }, 1000, "", "closed a socket with a reason longer than 123 bytes"],
  ])("%s", async (_id, options, code, reason, warning) => {
    const closes = speaking((socket) => socket.close(options));
    const heard = await Test.websocket(closes, texts, "/s", (socket) => socket.receive());
    expect(heard).toEqual({ ok: true, value: { ok: false, error: { kind: "closed", code, reason } } });
    if (warning === undefined) expect(messages("warn")).toEqual([]);
    else expect(messages("warn")[0]).toContain(warning);
  });

  it("has a bug and is closed with 1011 if it cannot encode a message", async () => {
    const wrong = get(Path.of("s"), { returns: Returns.websocket(echoing) }, () => async (socket) => {
      await socket.send({ text: 1 as never });
    });
    const heard = await Test.websocket(Test.app([wrong]), texts, "/s", (socket) => socket.receive());
    expect(heard).toMatchObject({ ok: true, value: { ok: false, error: { code: 1011 } } });
  });

  it("runs in the context of its request: its handler's log lines have the request's id", async () => {
    const log = Log.source("shop");
    await Test.websocket(
      speaking(async (socket) => {
        await socket.receive();
        log.info("heard");
      }),
      texts,
      "/s",
      (socket) => socket.send("x"),
    );
    const access = lines().find(({ message }) => message === "GET /s 101");
    const own = lines().find(({ message }) => message === "heard");
    expect(own?.["request_id"]).toBe(access?.["request_id"]);
    expect(own?.["request_id"]).toMatch(/^[0-9a-z]{12}$/);
  });
});

describe("a socket: closed with messages unread", () => {
  /** As much as a socket sends without waiting for its reader. */
  const long = "x".repeat(65_536);

  it("ends at once when its client closes it with unread messages, and its server waits to send", async () => {
    // The time limit of a close does not delay it.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const results: boolean[] = [];
    const pours = speaking(async (socket) => {
      for (const text of ["0", long, long, long]) results.push((await socket.send(text)).ok);
    });
    const first = await Test.websocket(pours, texts, "/s", async (socket) => {
      const received = await socket.receive();
      await new Promise(setImmediate);
      return received;
    });
    expect(first).toEqual({ ok: true, value: { ok: true, value: "0" } });
    expect(results.at(-1)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends at once when its client closes it while it waits to send, and its server leaves messages unread", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const ends: SocketEnd[] = [];
    const deaf = speaking(async (socket) => {
      await socket.receive();
      for (let sent = await socket.send(long); ; sent = await socket.send(long)) {
        if (!sent.ok) return void ends.push(sent.error);
      }
    });
    const sent = await Test.websocket(deaf, texts, "/s", async (socket) => {
      const sends = ["0", "1", "2", "3"].map((text) => socket.send(text));
      await new Promise(setImmediate);
      await socket.close({ code: 4001, reason: "enough" });
      return Promise.all(sends);
    });
    expect(sent).toMatchObject({ ok: true, value: { length: 4 } });
    expect(ends).toEqual([{ kind: "closed", code: 4001, reason: "enough" }]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a message for many WebSockets", () => {
  it("WS-22 is encoded once, for any number of sockets of a room", async () => {
    const hub = Broadcast.create<typeof echoing.server>();
    const room = get(Path.of("room"), { returns: Returns.websocket(echoing) }, () => async (socket) => {
      for await (const line of hub.subscribe("room")) if (!(await socket.send(line)).ok) break;
    });
    const app = Test.app([room]);
    let reads = 0;
    const line = {
      get text() {
        reads++;
        return "hello";
      },
    };
    const members = Array.from({ length: 3 }, () => {
      return Test.websocket(app, echoing, "/room", (socket) => socket.receive());
    });
    await eventually(() => expect(hub.subscribers("room")).toHaveLength(3));
    const encoded = Socket.encode(echoing.server, line);
    const readsOfOne = reads;
    expect(readsOfOne).toBeGreaterThan(0);
    hub.publish("room", encoded);
    const heard = { ok: true, value: { ok: true, value: { text: "hello" } } };
    hub.close();
    expect(await Promise.all(members)).toEqual([heard, heard, heard]);
    expect(reads).toBe(readsOfOne);
  });

  it("of text may be empty, or look like an event", async () => {
    const said = ["", "event: x\n"];
    const says = speaking(async (socket) => {
      for (const text of said) await socket.send(Socket.encode(Socket.text, text));
    });
    const heard = await Test.websocket(says, texts, "/s", async (socket) => {
      const taken: string[] = [];
      for await (const text of socket) taken.push(text);
      return taken;
    });
    expect(heard).toEqual({ ok: true, value: said });
  });

  it("that its shape cannot encode is a bug of the application, and so are bytes", () => {
    expect(() => Socket.encode(echoing.server, { text: 1 as never })).toThrow("the shape cannot write this message");
    expect(() => Socket.encode(Socket.binary, new Uint8Array(1))).toThrow("bytes need no encoding");
  });
});
