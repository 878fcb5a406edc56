import { describe, expect, it } from "vitest";
import type { RawAnswer, RawClient } from "../raw-client.ts";
import { shared } from "./server.ts";
import type { SpawnedServer, Start } from "./server.ts";

const opening = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

/**
 * A request is answered at its deadline, whatever it waits for, on every listener.
 *
 * @param pipelines Whether the runtime takes a request before the one in front of it is answered. Bun closes the connection.
 */
export function describeDeadlines(start: Start, pipelines = true): void {
  const startShared = shared(start);
  const on = async (): Promise<readonly [SpawnedServer, RawClient]> => {
    const server = await startShared();
    return [server, await server.client()];
  };
  const isTimedOut = ({ status, body }: RawAnswer): void => {
    expect([status, JSON.parse(body)]).toEqual([503, expect.objectContaining({ error: "timed_out" })]);
  };

  describe("a deadline that expires", () => {
    it("while its handler never ends is a 503, also for two pipelined requests", async () => {
      const [server, client] = await on();
      client.ask("GET /deadline/never");
      if (pipelines) client.ask("GET /deadline/signal");
      isTimedOut(await client.answer());
      await server.tells("never: timed out");
      if (!pipelines) client.ask("GET /deadline/signal");
      isTimedOut(await client.answer());
      await server.tells("signal: aborted");
      await server.logs("GET /deadline/signal: its handler answered 200 after its deadline");
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    });

    it("is a 503 without a body for a HEAD", async () => {
      const [server, client] = await on();
      expect((await client.ask("HEAD /deadline/never").answer({ toHead: true })).status).toBe(503);
      await server.tells("never: timed out");
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    });

    it("while an input is acquired releases the earlier ones", async () => {
      const [server, client] = await on();
      isTimedOut(await client.ask("GET /deadline/acquires").answer());
      await server.tells("before: timed out");
      expect(server.errors).toEqual([]);
    });

    // Before the whole of a body nothing is acquired.
    it.each([
      ["body", false],
      ["parts", true],
    ])("while its body arrives is a 503, and the next client is served: %s", async (name, isAcquired) => {
      const [server, client] = await on();
      client.socket.write(`POST /deadline/${name} HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\n[1,`);
      isTimedOut(await client.answer());
      if (isAcquired) await server.tells(`${name}: timed out`);
      expect(await server.asks("GET /hello")).toBe("hi");
      expect(server.told.includes(`${name}: timed out`)).toBe(isAcquired);
      expect(server.errors).toEqual([]);
    });
  });

  describe("at the deadline of its route, after the head,", () => {
    it("an event stream ends", async () => {
      const [server, client] = await on();
      const { status, body } = await client.ask("GET /deadline/events").answer();
      expect([status, body]).toEqual([200, "event: tick\ndata: one\n\n"]);
      await server.tells("events: gone");
      await server.tells("events: timed out");
    });

    it("a WebSocket closes with 1001", async () => {
      const [server, client] = await on();
      expect((await client.ask("GET /deadline/socket", opening).answer()).status).toBe(101);
      expect((await client.frame()).payload).toBe("open");
      // A Close frame (RFC 6455 §5.5.1) of the code 1001.
      expect(await client.frame()).toEqual({ first: 0x88, payload: "\u0003\u00e9The time of this socket is over." });
      client.leave();
      await server.tells("socket: over");
      await server.tells("socket: timed out");
    });
  });

  describe("once what an input checked is not valid any more,", () => {
    it("an event stream ends, and clientGone aborts", async () => {
      const [server, client] = await on();
      const { status, body } = await client.ask("GET /validity/events").answer();
      expect([status, body]).toEqual([200, "event: tick\ndata: one\n\n"]);
      await server.tells("validity events: gone");
      await server.tells("validity events: answered");
      await server.logs("stream on /validity/events ended: access ended");
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    });

    it("a WebSocket closes with 1008", async () => {
      const [server, client] = await on();
      expect((await client.ask("GET /validity/socket", opening).answer()).status).toBe(101);
      expect((await client.frame()).payload).toBe("open");
      expect(await client.frame()).toEqual({ first: 0x88, payload: "\u0003\u00f0Access to this socket has ended." });
      client.leave();
      await server.tells("validity socket: over");
      await server.tells("validity socket: answered");
      await server.logs("socket on /validity/socket ended: access ended");
    });
  });
}
