import { describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { shared } from "./server.ts";
import type { Start } from "./server.ts";

/** Longer than any test runs: what ends before it did not wait for it. */
const drainMs = 600_000;
/** The headers of a handshake. */
export const opening: readonly string[] = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

/** What a request acquired is released once, however it ends, on every listener. */
export function describeReleases(start: Start): void {
  const startShared = shared(start);
  describe("a request's inputs are released", () => {
    it("after its answer, on a connection that stays open", async () => {
      const server = await startShared();
      const client = await server.client();
      expect((await client.ask("GET /released/text").answer()).body).toBe("text");
      await server.tells("text: released: answered");
      expect((await client.ask("GET /released/throws").answer()).status).toBe(500);
      await server.tells("throws: released: failed");
      expect((await client.ask("GET /released").answer()).body).toBe("0");
    });

    it("after its stream's last chunk, and not before", async () => {
      const server = await start();
      const client = await server.client();
      client.ask("GET /released/stream");
      await client.sees("before ");
      expect(await server.asks("GET /released")).toBe("1");
      await server.open();
      expect((await client.answer()).body).toBe("before after");
      await server.tells("stream: released: answered");
      expect(await server.asks("GET /released")).toBe("0");
    });

    it("when a stream is requested with HEAD", async () => {
      const server = await startShared();
      const client = await server.client();
      expect((await client.ask("HEAD /released/stream").answer({ toHead: true })).status).toBe(200);
      await server.tells("stream: released: answered");
    });

    it("when the client leaves a stream", async () => {
      const server = await startShared();
      const client = await server.client();
      client.ask("GET /released/ticks");
      await client.sees("tick ");
      client.leave();
      await server.tells("ticks: released: client gone");
    });

    it.each(["late", "late-text"])("when the client left before the answer: %s", async (name) => {
      const server = await start();
      const client = await server.client();
      client.ask(`GET /released/${name}`);
      await server.tells(`${name}: acquired`);
      client.leave();
      // Known by the time that others were answered behind it.
      for (let i = 0; i < 3; i++) await server.asks("GET /hello");
      await server.open();
      while ((await server.asks("GET /released")) !== "0");
      expect(server.told.filter((line) => line.startsWith(`${name}: released`))).toHaveLength(1);
    });
  });

  describe("a connection's inputs are released", () => {
    it("after a WebSocket's handler", async () => {
      const server = await startShared();
      const client = await server.client();
      expect((await client.ask("GET /released/socket", opening).answer()).status).toBe(101);
      expect(await server.asks("GET /released")).toBe("1");
      client.leave();
      await server.tells("socket: released: answered");
    });

    it("when the client left before its WebSocket opened", async () => {
      const server = await start();
      const client = await server.client();
      client.ask("GET /released/late-socket", opening);
      await server.tells("late-socket: acquired");
      client.leave();
      for (let i = 0; i < 3; i++) await server.asks("GET /hello");
      await server.open();
      while ((await server.asks("GET /released")) !== "0");
    });

    it("each of them, even if the release of another throws", async () => {
      const server = await start();
      expect(await server.asks("GET /released/raises")).toBe("raises");
      await server.tells("behind: released: answered");
      await server.logs("GET /released/raises: the release of an input raised");
      expect(server.written.join("\n")).not.toContain("a secret");
      expect(await server.asks("GET /hello")).toBe("hi");
    });
  });

  describe("a server that stops: its releases", () => {
    it.each(["late", "late-socket"])("when it stopped before the answer: %s", async (name) => {
      const server = await start({ drainMs: 50 });
      const client = await server.client();
      client.ask(`GET /released/${name}`, name === "late-socket" ? opening : []);
      await server.tells(`${name}: acquired`);
      await server.asks("POST /stop");
      await server.tells("ended: 1");
      await server.open();
      await eventually(() => {
        expect(server.told.filter((line) => line.startsWith(`${name}: released`))).toHaveLength(1);
      });
    });

    it("before a server has stopped", async () => {
      const server = await start({ drainMs });
      expect(await server.asks("GET /released/slow")).toBe("slow");
      server.child.kill("SIGTERM");
      await server.logs("stopping, with 0 requests in flight");
      await server.open();
      await server.tells("slow: released: answered");
      expect(await server.ended).toBe(0);
      expect(server.logged.slice(-1)).toEqual(["stopped"]);
      expect(server.told.indexOf("slow: released: answered")).toBeLessThan(server.told.indexOf("ended: 0"));
    });

    it("and it waits for tasks after an answer, too", async () => {
      const server = await start({ drainMs });
      expect(await server.asks("GET /after")).toBe("after");
      server.child.kill("SIGTERM");
      await server.logs("stopping, with 0 requests in flight");
      await server.open();
      expect(await server.ended).toBe(0);
      expect(server.told.indexOf("after: done")).toBeLessThan(server.told.indexOf("ended: 0"));
      expect(server.told).toContain("after: done");
    });

    it("in limited time: a server stops without one that hangs, and logs that", async () => {
      const server = await start({ drainMs: 50 });
      expect(await server.asks("GET /released/never")).toBe("never");
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(server.logged).toContain("stopping, although the work of 1 request after its answer has not ended");
    });
  });
}
