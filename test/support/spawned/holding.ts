/** Clients that hold their connections when a server stops: its process ends by itself all the same. */
import { describe, expect, it } from "vitest";
import { rows } from "../wide.ts";
import type { RawClient } from "../raw-client.ts";
import type { SpawnedServer, Start } from "./server.ts";

const handshake = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];
const head = (line: string, ...headers: readonly string[]) => [`${line} HTTP/1.1`, "host: h", ...headers, ""];

type Holds = (client: RawClient, server: SpawnedServer) => Promise<unknown>;

/** The action of a client; from then on it sends nothing, reads nothing, and does not disconnect. */
const holds: { readonly [what: string]: Holds } = {
  "nothing, ever": () => Promise.resolve(),
  "half a head": (client) => Promise.resolve(client.send("GET /hello HTTP/1.1\r\nhos")),
  "nothing after an answer": (client) => client.ask("GET /hello").answer(),
  "a request that is never answered": async (client, server) => {
    client.ask("GET /never");
    await server.tells("never: asked");
  },
  "a stream that it does not read": async (client, server) => {
    client.socket.pause();
    client.ask("GET /endless");
    await server.tells("endless: going on");
  },
  "events that it does not read": async (client, server) => {
    client.socket.pause();
    client.ask("GET /feed/held");
    await server.tells("held: began");
    for (let i = 0; i < 16; i++) await server.asks("POST /publish/1000000");
  },
  "a long answer that it does not read": (client) => {
    client.socket.pause();
    return Promise.resolve(client.ask("GET /large"));
  },
  "a long answer that was asked for while others are made": async (client, server) => {
    client.socket.pause();
    client.ask("GET /held").ask("GET /large");
    await server.tells("held: asked");
  },
  "a socket that it neither answers nor closes": (client) => client.ask("GET /socket", handshake).answer(),
  "a socket that it does not read": async (client, server) => {
    client.socket.pause();
    const before = await server.asks("GET /speaking");
    client.ask("GET /socket/floods", handshake);
    await expect.poll(() => server.asks("GET /speaking")).not.toBe(before);
  },
  "a socket whose handler does not end": (client) => client.ask("GET /socket/ignores", handshake).answer(),
};

/** Bodies that do not end. On Deno only the end of the process closes their connections. */
const bodies: { readonly [what: string]: Holds } = {
  "a body in one piece": (client) => Promise.resolve(client.send(...head("POST /size", "content-length: 10"), "abc")),
  "a body of many pieces": (client) =>
    Promise.resolve(client.send(...head("POST /size", "content-length: 1000000"), "x".repeat(500_000))),
  "a body in chunks": (client) =>
    Promise.resolve(client.send(...head("POST /size", "transfer-encoding: chunked"), "3\r\nabc\r\n")),
  "a body in parts": async (client, server) => {
    client.send(...head("POST /parts", "content-length: 10"), "abc");
    await server.tells("parts: 3");
  },
  "a body that nobody reads": async (client) => {
    await client.send(...head("POST /unread", "content-length: 10"), "abc").answer();
  },
};

async function givenUp(client: RawClient): Promise<void> {
  client.send(...head("POST /parts", "content-length: 1000000"), "abc");
  expect((await client.answer()).status).toBe(400);
}

/** These take longer, and each has a server of its own. On Deno they end with the process, too. */
const slow: { readonly [what: string]: Holds } = {
  "many short answers that it does not read": async (client, server) => {
    client.socket.pause();
    // 12 MB of them, which no system has room for.
    for (let i = 0; i < 12; i++) client.send("GET /kilobyte HTTP/1.1\r\nhost: h\r\n\r\n".repeat(1000));
    await expect.poll(() => server.written.length).toBeGreaterThan(1000);
  },
  "a body that was given up": givenUp,
};

/** Asks for something, and reads it as far as it comes. */
export const over: { readonly [what: string]: Holds } = {
  "a stream that is whole": (client) => client.ask("GET /exact").answer(),
  "a stream that fails": (client) =>
    client
      .ask("GET /raises")
      .rest()
      .catch(() => {}),
  "a stream that falls short": (client) =>
    client
      .ask("GET /short")
      .rest()
      .catch(() => {}),
  "a stream that is too long": (client) => client.ask("GET /long").answer(),
  "a stream that is left": async (client, server) => {
    await client.ask("GET /endless").sees("\r\n\r\n");
    client.leave();
    await server.tells("endless: over");
  },
  "events that are left": async (client, server) => {
    client.ask("GET /feed/left");
    await server.tells("left: began");
    client.leave();
    await server.tells("left: ended");
  },
  "a long answer": (client) => client.ask("GET /large").answer(),
  "a long answer to HEAD": (client) => client.ask("HEAD /large").answer({ toHead: true }),
  "a long answer that is left": async (client) => {
    await client.ask("GET /large").sees("\r\n\r\n");
    client.leave();
  },
  "a body that is read": (client) => client.ask("POST /parts", [], "x".repeat(100_000)).answer(),
  "a body that breaks off": (client) => {
    client.send(...head("POST /parts", "content-length: 10"), "abc");
    return Promise.resolve(client.halfClose());
  },
  "a socket that is closed": async (client) => {
    await client.ask("GET /socket", handshake).answer();
    await client.send("\u0088\u0080\0\0\0\0").closed();
  },
};

type Row = readonly [what: string, acts: readonly Holds[]];
const each = (acts: { readonly [what: string]: Holds }): readonly Row[] =>
  Object.entries(acts).map(([what, act]) => [what, [act]]);
/** All on one server, as to start one takes longer than what they do. The wide run tells which of them it is. */
const all = (kind: string, acts: { readonly [what: string]: Holds }): readonly Row[] =>
  rows([[kind, Object.values(acts)]], each(acts));

/** Two clients for each. */
async function holdBy(acts: readonly Holds[], server: SpawnedServer): Promise<void> {
  for (const act of acts) {
    const clients = await Promise.all([server.client(), server.client()]);
    for (const client of clients) await act(client, server);
  }
}

/**
 * How every listener is rid of clients that hold it.
 *
 * @param isPlatforms Whether the runtime alone can be rid of some, with its process.
 */
export function describeHolding(start: Start, isPlatforms = false): void {
  describe("requests that have ended hold nothing", () => {
    it.each(all("each of them", over))("%s", async (_what, acts) => {
      // Longer than any test runs.
      const server = await start({ drainMs: 600_000 });
      for (const act of acts) {
        for (let i = 0; i < 3; i++) await act(await server.client(), server);
      }
      expect(await server.asks("GET /hello")).toBe("hi");
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(server.logged).not.toContain("the runtime reported an error");
      await server.logs('"stopped"');
      expect(server.logged.filter((line) => line.includes("clients hold"))).toEqual([]);
    });
  });

  describe("a client that keeps its connection open does not keep the process of a stopped server alive", () => {
    // No body is given up before the server stops, except where that is expected.
    const optionsOf = ([act]: readonly Holds[]) => ({ drainMs: 100, bodyTimeoutMs: act === givenUp ? 300 : 600_000 });
    const held = all("whatever it waits for", holds);
    const byPlatform = [...all("whatever it sends", bodies), ...each(slow)];

    it.each([...held, ...byPlatform])("after a stop by a signal: %s", async (_what, acts) => {
      const server = await start(optionsOf(acts));
      await holdBy(acts, server);
      expect(await server.asks("GET /hello")).toBe("hi");
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(server.logged).not.toContain("the runtime reported an error");
    });

    const byProgram = isPlatforms ? held : [...held, ...byPlatform];
    it.each(byProgram)("after a stop by the program: %s", async (_what, acts) => {
      const server = await start(optionsOf(acts));
      await holdBy(acts, server);
      await server.asks("POST /stop");
      expect(await server.ended).toBe(0);
      expect(server.logged).not.toContain("the runtime reported an error");
      expect(server.told.filter((told) => told.startsWith("ended: "))).toHaveLength(1);
    });
  });
}
