/** Exceptions of a WebSocket's own program: its handler always ends, and its client receives 1011. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Path, Returns, Socket, Test, get } from "usher-http";
import type { SocketHandler } from "usher-http";
import { lines, messages } from "../support/logs.ts";

const raised = { kind: "closed", code: 1011, reason: "Something went wrong at our end." };
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });

/** Values that throw on every access. */
const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const thrown: readonly (readonly [string, () => unknown])[] = [
  ["an error", () => new TypeError("secret")],
  ["nothing", () => undefined],
  ["a symbol", () => Symbol("secret")],
  ["a revoked proxy", revoked],
];

async function endOf(handler: SocketHandler<string, string>): Promise<unknown> {
  const app = Test.app([get(Path.of("s"), { returns: Returns.websocket(texts) }, () => handler)]);
  return Test.websocket(app, texts, "/s", (socket) => socket.receive());
}

describe("the handler of a WebSocket", () => {
  it.each(thrown)("that throws %s closes it with 1011, once", async (_what, value) => {
    expect(await endOf(() => Promise.reject(value()))).toEqual({ ok: true, value: { ok: false, error: raised } });
    expect(messages("error")).toEqual(["socket on /s: its handler raised"]);
    expect(messages("info").at(-1)).toBe("socket on /s ended: its handler raised");
    expect(JSON.stringify(lines())).not.toContain("secret");
  });

  it.each([
    ["a text", "secret", "a code of type string"],
    ["an error", new Error("secret"), "a code of type object"],
    ["a number that none can send", 1005, "the code 1005"],
  ])("that closes with %s as its code sends 1011, and logs no text", async (_what, code, said) => {
    const end = { kind: "closed", code: 1011, reason: "" };
    expect(await endOf((socket) => socket.close({ code: code as number }))).toEqual({
      ok: true,
      value: { ok: false, error: end },
    });
    expect(messages("warn")).toEqual([`/s closed a socket with ${said}, which none can send: it was sent 1011`]);
  });
});

describe("the shape of a WebSocket's messages", () => {
  const reads: readonly (readonly [string, SocketHandler<string, string>, early: boolean])[] = [
    ["received while it waits", async (socket) => void (await socket.receive()), false],
    [
      "iterated while it waits",
      async (socket) => {
        for await (const text of socket) await socket.send(text);
      },
      false,
    ],
    [
      "received behind another reader",
      async (socket) => void (await Promise.all([socket.receive(), socket.receive()])),
      false,
    ],
    ["received once it is there", async (socket) => void (await socket.receive()), true],
  ];

  it.each(reads)("that throws for a message %s ends its handler with that error", async (_how, handler, early) => {
    const broken = v.pipe(
      v.string(),
      v.transform((): string => {
        throw new TypeError("secret");
      }),
    );
    const protocol = Socket.protocol({ client: Socket.json(broken), server: Socket.text });
    let met: unknown;
    const turn = () => new Promise(setImmediate);
    const route = get(Path.of("s"), { returns: Returns.websocket(protocol) }, () => async (socket) => {
      if (early) await turn();
      await handler(socket).catch((error: unknown) => {
        met = error;
        throw error;
      });
    });
    const end = await Test.websocket(Test.app([route]), texts, "/s", async (socket) => {
      if (!early) await turn();
      await socket.send('"tea"');
      await socket.send('"milk"');
      return socket.receive();
    });
    expect(end).toEqual({ ok: true, value: { ok: false, error: raised } });
    expect(met).toEqual(new TypeError("secret"));
    expect(messages("error")).toEqual(["socket on /s: its handler raised"]);
    expect(messages("info").at(-1)).toBe("socket on /s ended: its handler raised");
  });
});
