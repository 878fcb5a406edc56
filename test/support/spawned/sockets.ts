import { waitMs } from "../patience.ts";
/**
 * What clients do wrong on a socket of another runtime's own: behind each, no handler speaks any more, and the process
 * holds no more files than it did.
 */
import { describe, expect, it, vi } from "vitest";
import { leaveAll } from "../raw-client.ts";
import type { RawClient } from "../raw-client.ts";
import { shared } from "./server.ts";
import type { Start } from "./server.ts";

const handshake = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];
/** A frame of a client's, its mask of zeros. */
const frame = (first: number, text: string): string =>
  String.fromCharCode(first, 0x80 | text.length, 0, 0, 0, 0) + text;
const aWhile = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function opened(client: RawClient, path: string): Promise<RawClient> {
  expect((await client.ask(`GET ${path}`, handshake).answer()).status).toBe(101);
  return client;
}

/** The actions of one client; it ends when the bytes that it waits for have arrived. */
const faults: { readonly [what: string]: (client: RawClient) => Promise<unknown> } = {
  "a socket that is left": async (client) => (await opened(client, "/socket")).leave(),
  "a socket that is left in the middle of a frame": async (client) => {
    await opened(client, "/socket");
    client.send("\u0081\u008a\0\0\0\0hel");
    await aWhile(20);
    client.leave();
  },
  "a socket that is left before it is open": async (client) => {
    client.ask("GET /socket/later", handshake);
    await aWhile(20);
    client.leave();
  },
  "a socket that ends its side, and closes nothing": async (client) => {
    await opened(client, "/socket");
    client.halfClose();
    await aWhile(50);
  },
  "a socket that sends what is none": async (client) =>
    (await opened(client, "/socket")).send("\u00ff\u0080\0\0\0\0").closed(),
  "a socket that vanished: it answers no ping": async (client) => {
    await opened(client, "/socket/quiet");
    client.socket.pause();
    await aWhile(500);
  },
  "a socket that takes nothing": async (client) => {
    client.ask("GET /socket/floods", handshake);
    client.socket.pause();
    await aWhile(1000);
  },
  "a socket that is closed with messages that nobody takes": async (client) => {
    await opened(client, "/socket/ignores");
    for (let i = 0; i < 3; i++) {
      client.send(frame(0x81, "hello"));
      await aWhile(10);
    }
    client.close();
  },
  "a hundred messages, and gone": async (client) => {
    await opened(client, "/socket");
    for (let i = 0; i < 100; i++) client.send(frame(0x81, "hello"));
    await aWhile(20);
    client.leave();
  },
};

export function describeSockets(start: Start): void {
  const startShared = shared(start);
  it.each([
    ["", "/socket/large"],
    [", also where the handler did not wait for it", "/socket/hasty"],
  ])("messages before a close arrive whole at a slow client, and then the close%s", async (_where, path) => {
    const server = await startShared();
    const client = await opened(await server.client(), path);
    client.socket.pause();
    // Longer than a close is waited for, once it is out.
    await aWhile(1500);
    client.socket.resume();
    expect((await client.frame()).payload.length).toBe(16_777_216);
    expect(await client.frame()).toEqual({ first: 0x88, payload: "\u0003\u00e8" });
    await server.logs(`socket on ${path} ended: closed`);
  });

  it("a client that does not read is disconnected after sendTimeoutMs, though it stays connected", async () => {
    const server = await startShared({ sendTimeoutMs: 300 });
    const client = await server.client();
    client.ask("GET /socket/floods", handshake);
    client.socket.pause();
    await server.logs("socket on /socket/floods ended: lost: nothing written was taken for 0.3s");
    expect(await server.asks("GET /speaking")).toBe("0");
  });

  describe("clients that misbehave on a WebSocket leave nothing behind", () => {
    it.each(Object.entries(faults))("%s", async (_what, act) => {
      const server = await startShared({ sendTimeoutMs: 300 });
      const round = async (): Promise<void> => {
        await Promise.all(Array.from({ length: 20 }, async () => act(await server.client())));
        leaveAll();
        await vi.waitFor(async () => expect(await server.asks("GET /speaking")).toBe("0"), { timeout: waitMs() });
      };
      await round();
      const before = server.descriptors;
      for (let i = 0; i < 3; i++) await round();
      await vi.waitFor(() => expect(server.descriptors).toBeLessThanOrEqual(before + 2), { timeout: waitMs() });
    });
  });
}
