import { describe, expect, it } from "vitest";
import type { RawClient } from "../raw-client.ts";
import { shared } from "./server.ts";
import type { SpawnedServer, Start } from "./server.ts";

const ways: readonly (readonly [how: string, leave: (client: RawClient) => void])[] = [
  ["closes its connection", (client) => client.close()],
  ["resets it", (client) => client.leave()],
];

/** Longer than any test runs: what ends before it did not wait for it. */
const drainMs = 600_000;

/** Waits until that is who follows. */
async function followed(server: SpawnedServer, by: string): Promise<void> {
  while ((await server.asks("GET /followers")) !== by);
}

/** What every listener does for event streams whose clients do wrong: producers end, and subscriptions with them. */
export function describeFeeds(start: Start, isPlatforms = false): void {
  const startShared = shared(start);
  describe("an event stream: its clients", () => {
    it("is sent to each client, and a slow one delays no other", async () => {
      const server = await startShared();
      const [one, other, deaf] = await Promise.all([server.client(), server.client(), server.client()]);
      deaf.socket.pause();
      one.ask("GET /feed/one");
      other.ask("GET /feed/other");
      deaf.ask("GET /feed/deaf");
      for (const name of ["one", "other", "deaf"]) await server.tells(`${name}: began`);
      expect(await server.asks("GET /followers")).toBe("deaf,one,other");
      await server.asks("POST /publish/10");
      for (const client of [one, other]) await client.sees(`: ${"x".repeat(10)}\n\n`);
      for (const client of [one, other, deaf]) client.leave();
      await followed(server, "");
    });

    it.each(ways)("whose client disconnects by %s ends, quiet or not", async (_how, leave) => {
      const server = await startShared();
      const names = ["a", "b", "c", "d", "e"];
      const clients = await Promise.all(names.map(() => server.client()));
      for (const [i, client] of clients.entries()) client.ask(`GET /feed/${names[i]}`);
      const ticking = await server.client();
      ticking.ask("GET /ticks/t");
      await ticking.sees(": tick");
      for (const name of names) await server.tells(`${name}: began`);
      expect(await server.asks("GET /followers")).toBe(names.join());
      for (const client of clients.slice(0, 4)) leave(client);
      for (const name of names.slice(0, 4)) await server.tells(`${name}: ended`);
      await followed(server, "e");
      leave(ticking);
      await server.tells("t: ended");
      await server.asks("POST /publish/10");
      await clients[4]?.sees(": xxxxxxxxxx");
      for (const client of clients.slice(4)) leave(client);
      await server.tells("e: ended");
      expect(server.logged.filter((line) => line.includes("failed"))).toEqual([]);
    });

    it("whose client disconnects before the head, or asked with HEAD, does not run its producer", async () => {
      const server = await start();
      const client = await server.client();
      client.ask("GET /late-feed/late");
      await server.tells("late: asked");
      client.leave();
      // Known by the time that others were answered behind it.
      for (let i = 0; i < 3; i++) await server.asks("GET /hello");
      const asks = await server.client();
      expect((await asks.ask("HEAD /feed/head").answer({ toHead: true })).status).toBe(200);
      await server.open();
      for (let i = 0; i < 3; i++) await server.asks("GET /hello");
      expect(server.told).not.toContain("head: began");
      if (server.told.includes("late: began")) await server.tells("late: ended");
      expect(await server.asks("GET /followers")).toBe("");
      server.child.kill("SIGTERM");
      await server.ended;
      // Nor was it kept to be ended with the server.
      expect(server.logged.filter((line) => line.includes("server stopped"))).toEqual([]);
    });

    it("whose client does not read is ended, and its subscription too", async () => {
      const server = await start({ sendTimeoutMs: 500 });
      const deaf = await server.client();
      deaf.socket.pause();
      deaf.ask("GET /feed/deaf");
      await server.tells("deaf: began");
      // More than sockets hold on the way; who is too far behind is dropped, and what was queued is still sent.
      for (let i = 0; i < 40 && !server.told.includes("deaf: ended"); i++) await server.asks("POST /publish/1000000");
      await server.tells("deaf: ended");
      await server.logs("client stopped reading");
      expect(await server.asks("GET /followers")).toBe("");
    });
  });

  describe("an event stream: a server that stops", () => {
    it("ends as soon as its server stops, for any client", async () => {
      const server = await start({ drainMs });
      const names = ["a", "b", "c"];
      const clients = await Promise.all(names.map(() => server.client()));
      for (const [i, client] of clients.entries()) client.ask(`GET /feed/${names[i]}`);
      const ticking = await server.client();
      ticking.ask("GET /ticks/t");
      await ticking.sees(": tick");
      for (const name of names) await server.tells(`${name}: began`);
      server.child.kill("SIGTERM");
      for (const name of [...names, "t"]) await server.tells(`${name}: ended`);
      await server.logs("stream on /ticks/t ended: server stopped");
      for (const client of [...clients, ticking]) {
        expect((await client.answer()).body).toMatch(/: stopping\n\n$/);
        await client.closed();
      }
      expect(await server.ended).toBe(0);
      expect(server.logged.filter((line) => /failed|error|reported/i.test(line))).toEqual([]);
    });

    // Deno cannot close its connection: the stop waits for `drainMs`.
    it.skipIf(isPlatforms)("does not wait for a client that reads nothing", async () => {
      const server = await start({ drainMs });
      const deaf = await server.client();
      deaf.socket.pause();
      deaf.ask("GET /feed/deaf");
      await server.tells("deaf: began");
      for (let i = 0; i < 10; i++) await server.asks("POST /publish/1000000");
      server.child.kill("SIGTERM");
      await server.tells("deaf: ended");
      expect(await server.ended).toBe(0);
      expect(server.logged.filter((line) => line.startsWith("stream on /feed/deaf"))).toEqual([
        "stream on /feed/deaf ended: server stopped",
      ]);
    });

    it("that begins during the stop ends at once", async () => {
      const server = await start({ drainMs });
      const client = await server.client();
      client.ask("GET /late-feed/late");
      await server.tells("late: asked");
      server.child.kill("SIGTERM");
      await server.logs("stopping, with 1 request in flight");
      await server.open();
      await server.logs("stream on /late-feed/late ended: server stopped");
      // Its producer may have begun. Bun sends it with a length.
      expect((await client.answer()).body).toMatch(/: stopping\n\n$/);
      expect(await server.ended).toBe(0);
      if (server.told.includes("late: began")) expect(server.told).toContain("late: ended");
      expect(server.logged.filter((line) => /failed|error|reported/i.test(line))).toEqual([]);
    });
  });
}
