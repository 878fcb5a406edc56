import { waitMs } from "../../support/patience.ts";
/**
 * Clients that misbehave on a connection that changed its protocol, many of them and repeatedly (issue 5):
 * after each, no handler runs any more, and the server's connections and its memory are as before.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket as NetSocket } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Answer, Path, Returns, Socket, get } from "usher-http";
import type { Route } from "usher-http";
import { logWith, messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient, leaveAll } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";
import { keepsNothing, sockets, turn } from "../../support/memory.ts";

const aWhile = () => new Promise((resolve) => setTimeout(resolve, 300));

/** The number of running handlers. */
let speaking = 0;
async function counted(speak: () => Promise<void>): Promise<void> {
  speaking++;
  try {
    await speak();
  } finally {
    speaking--;
  }
}

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const kept = { keepAliveMs: 100, maxMessage: 100_000 };
const routes: readonly Route[] = [
  get(Path.of("echo"), { returns: Returns.websocket(texts, kept) }, () => (socket) => {
    return counted(async () => {
      for await (const text of socket) if (!(await socket.send(text)).ok) return;
    });
  }),
  get(Path.of("floods"), { returns: Returns.websocket(texts, { keepAliveMs: 60_000 }) }, () => (socket) => {
    return counted(async () => {
      while ((await socket.send("x".repeat(65_536))).ok);
    });
  }),
  // Reads nothing that it receives, until its client has gone.
  get(Path.of("holds"), { returns: Returns.websocket(texts, kept) }, () => (socket) => {
    return counted(async () => {
      await socket.close({ code: 1000 });
    });
  }),
  get(Path.of("taken"), { returns: Returns.response }, () =>
    Answer.takeover("echo", ({ readable, writable }) => counted(() => readable.pipeTo(writable))),
  ),
  get(Path.of("taken", "floods"), { returns: Returns.response }, () =>
    Answer.takeover("echo", ({ writable }) => {
      return counted(async () => {
        const writer = writable.getWriter();
        for (;;) await writer.write(new Uint8Array(65_536));
      });
    }),
  ),
  get(Path.of("taken", "leaves"), { returns: Returns.response }, () => Answer.takeover("echo", async () => {})),
];

const handshake = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];
const offer = ["connection: upgrade", "upgrade: echo"];
/** A frame of a client, with a mask of zeros. */
const frame = (first: number, text: string): string =>
  String.fromCharCode(first, 0x80 | text.length, 0, 0, 0, 0) + text;
const opened = async (client: RawClient, path: string): Promise<RawClient> => {
  expect((await client.ask(`GET ${path}`, handshake).answer()).status).toBe(101);
  return client;
};
const taken = async (client: RawClient, path: string): Promise<RawClient> => {
  expect((await client.ask(`GET ${path}`, offer).answer()).status).toBe(101);
  return client;
};

/** The actions of one client; it ends when the bytes that it waits for have arrived. */
const faults: { readonly [what: string]: (client: RawClient) => Promise<unknown> } = {
  "a socket that is left": async (client) => (await opened(client, "/echo")).leave(),
  "a socket that is left in the middle of a frame": async (client) => {
    await opened(client, "/echo");
    client.send("\u0081\u008a\0\0\0\0hel");
    await turn();
    client.leave();
  },
  "a socket that is left in the middle of a message": async (client) => {
    await opened(client, "/echo");
    client.send(frame(0x01, "hello"));
    await turn();
    client.leave();
  },
  "half a handshake, and gone": async (client) => {
    client.send("GET /echo HTTP/1.1", "host: h", ...handshake.slice(0, 2));
    await turn();
    client.leave();
  },
  "a socket that ends its side, and closes nothing": async (client) => {
    await opened(client, "/echo");
    await client.halfClose().closed();
  },
  "a socket that vanished: it answers no ping": async (client) => {
    await opened(client, "/echo");
    client.socket.pause();
    await aWhile();
  },
  "a socket that takes nothing": async (client) => {
    client.ask("GET /floods", handshake);
    client.socket.pause();
    await aWhile();
  },
  "a socket that sends what is none": async (client) => (await opened(client, "/echo")).send("\u00ff\u00ff").closed(),
  "a message past its limit": async (client) => {
    await opened(client, "/echo");
    await client.send("\u0081\u00ff\0\0\0\0\u0010\0\0\0\0\0\0\0", "x".repeat(1000)).closed();
  },
  "a close that is not answered": async (client) => {
    await opened(client, "/holds");
    await client.closed();
  },
  "a socket that closes, and keeps the connection": async (client) => {
    await opened(client, "/echo");
    await client.send(frame(0x88, "\u0003\u00e8")).closed();
  },
  "a hundred messages, and gone": async (client) => {
    await opened(client, "/echo");
    for (let i = 0; i < 100; i++) client.send(frame(0x81, "hello"));
    await turn();
    client.leave();
  },
  "a taken connection that is left": async (client) => {
    await taken(client, "/taken");
    client.send("hello");
    await client.bytes(5);
    client.leave();
  },
  "a taken connection that ends its side": async (client) => {
    await taken(client, "/taken");
    await client.halfClose().closed();
  },
  "a taken connection of which nothing is taken": async (client) => {
    client.ask("GET /taken/floods", offer);
    client.socket.pause();
    await aWhile();
  },
  "a taken connection that is done, and kept": async (client) => {
    await taken(client, "/taken/leaves");
    await client.send("x".repeat(1000)).closed();
  },
};

describe("clients that misbehave leave nothing behind", () => {
  it.each(Object.entries(faults))("%s", async (_what, act) => {
    logWith({ level: undefined });
    await eventually(() => expect(sockets()).toBe(0));
    const { port } = await start(routes, { sendTimeoutMs: 100, headTimeoutMs: 100 });
    const round = async () => {
      await Promise.all(Array.from({ length: 20 }, async () => act(await RawClient.to(port))));
      leaveAll();
      await vi.waitFor(() => expect([sockets(), speaking]).toEqual([0, 0]), { timeout: waitMs() });
    };
    await keepsNothing(round);
  });
});

it("a write to a client that is gone, before this is noticed, is no bug of the handler", async () => {
  const sockets: NetSocket[] = [];
  const taken = (message: unknown): void => void sockets.push((message as { readonly socket: NetSocket }).socket);
  subscribe("net.server.socket", taken);
  onTestFinished(() => void unsubscribe("net.server.socket", taken));
  const leaving = get(Path.of("leaving"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ writable }) => {
      sockets[0]?.destroy();
      await writable.getWriter().write(new Uint8Array(1));
    }),
  );
  const { port } = await start([leaving]);
  await (await RawClient.to(port)).ask("GET /leaving", offer).closed();
  await eventually(() => expect(messages("info")).toContain("takeover on /leaving ended: client gone"));
  expect(messages("error")).toEqual([]);
});
