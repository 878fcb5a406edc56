import { describe, expect, it } from "vitest";
import { header } from "../raw-client.ts";
import type { RawClient } from "../raw-client.ts";
import { opening } from "./releases.ts";
import { refusesAt } from "./server.ts";
import type { Start } from "./server.ts";

/** Longer than any test runs: what ends before it did not wait for it. */
const drainMs = 600_000;

/** How every listener stops. */
export function describeStopping(start: Start): void {
  describe("a server that stops: requests", () => {
    it("refuses new ones, finishes those in flight, and sends Connection: close", async () => {
      const server = await start({ drainMs });
      const [held, other] = await Promise.all([server.client(), server.client()]);
      expect((await other.ask("GET /hello").answer()).body).toBe("hi");
      held.ask("GET /held");
      await server.tells("held: asked");
      expect(await server.asks("GET /readyz")).toBe("ok");
      await server.asks("POST /stop");
      await server.tells("ready while it stops: 503");
      await server.logs("stopping, with 1 request in flight");
      await refusesAt(server.port);
      // Idle, so it is ended.
      await other.closed();
      expect(server.logged).not.toContain("stopped");
      await server.open();
      const answered = await held.answer();
      expect([answered.body, header(answered, "connection")]).toEqual(["held", "close"]);
      await server.tells("stopped: 0");
      await server.logs('"stopped"');
      expect(server.told).not.toContain("held: gone");
    });

    it.each(["SIGTERM", "SIGINT"] as const)("%s stops it", async (signal) => {
      const server = await start({ drainMs });
      const client = await server.client();
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
      server.child.kill(signal);
      await client.closed();
      expect(await server.ended).toBe(0);
      expect(server.logged.slice(-2)).toEqual(["stopping, with 0 requests in flight", "stopped"]);
      expect(server.told).toContain("ended: 0");
    });

    it("lets a body arrive that is being sent", async () => {
      const server = await start({ drainMs });
      const client = await server.client();
      client.send("POST /parts HTTP/1.1", "host: h", "content-length: 6", "", "abc");
      await server.tells("parts: 3");
      server.child.kill("SIGTERM");
      await server.logs("stopping, with 1 request in flight");
      client.send("def");
      const answered = await client.answer();
      expect(answered.body).toBe("6 bytes");
      expect(answered.head.map(([name, value]) => `${name.toLowerCase()}: ${value}`)).toContain("connection: close");
      expect(await server.ended).toBe(0);
    });

    it("lets a stream finish", async () => {
      const server = await start({ drainMs });
      const client = await server.client();
      client.ask("GET /quiet");
      await client.sees("before");
      server.child.kill("SIGTERM");
      await server.logs("stopping, with 1 request in flight");
      await refusesAt(server.port);
      await server.open();
      expect((await client.answer()).body).toBe("before after");
      expect(await server.ended).toBe(0);
      expect(server.told).not.toContain("quiet: gone");
      // What has ended is not counted as cut.
      expect(server.told).toContain("ended: 0");
    });
  });

  describe("a server that stops: idle clients", () => {
    it("does not wait for a connection that sent no request, or half a head", async () => {
      const server = await start({ drainMs });
      await server.client();
      (await server.client()).send("GET /hello HTTP/1.1", "host");
      expect(await server.asks("GET /hello")).toBe("hi");
      server.child.kill("SIGTERM");
      await server.logs('"stopped"');
    });

    it("does not wait for an answer that its client has read", async () => {
      const server = await start({ drainMs });
      for (const path of ["/large", "/exact", "/heavy"]) {
        const client = await server.client();
        expect((await client.ask(`GET ${path}`).answer()).status).toBe(200);
      }
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(server.logged.slice(-2)).toEqual(["stopping, with 0 requests in flight", "stopped"]);
    });
  });

  describe("a server that stops: event streams", () => {
    it("ends a quiet one at once", async () => {
      const server = await start({ drainMs });
      const client = await server.client();
      client.ask("GET /events");
      await client.sees("\r\n\r\n");
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      await client.closed();
      expect(server.logged.filter((line) => line.startsWith("stream on"))).toEqual([
        "stream on /events ended: server stopped",
      ]);
    });
  });

  describe("a server that stops: its first line", () => {
    it("counts each request whose answer has not ended, and the open sockets", async () => {
      const server = await start({ drainMs: 50 });
      const asked: RawClient[] = [];
      const ask = async (target: string, seen: string, headers: readonly string[] = []): Promise<void> => {
        const client = await server.client();
        asked.push(client.ask(`GET ${target}`, headers));
        await client.sees(seen);
      };
      await ask("/events", "\r\n\r\n");
      await ask("/ticks/t", ": tick");
      await ask("/quiet", "before");
      await ask("/socket", "\r\n\r\n", opening);
      await ask("/socket", "\r\n\r\n", opening);
      asked.push((await server.client()).ask("GET /never"));
      await server.tells("never: asked");
      server.child.kill("SIGTERM");
      await server.logs("stopping, with 4 requests and 2 sockets in flight");
      await server.logs("stopped with");
      for (const client of asked) client.leave();
      expect(await server.ended).toBe(0);
    });
  });

  describe("a server that stops: time and signals", () => {
    it("cuts off what is not answered in time, ends open streams, and returns the number", async () => {
      const server = await start({ drainMs: 50 });
      const [never, again, quiet] = await Promise.all([server.client(), server.client(), server.client()]);
      for (const client of [never, again]) client.ask("GET /never");
      quiet.ask("GET /quiet");
      await quiet.sees("before");
      await server.tells("never: asked");
      await server.asks("POST /stop");
      await server.tells("stopped: 3");
      await server.tells("ended: 3");
      await server.tells("never: gone");
      await server.tells("quiet: gone");
      await server.logs("stopped with 3 requests unanswered after 0.05s");
      await quiet.closed();
      // Some runtimes leave it to the clients to go.
      for (const client of [never, again, quiet]) client.leave();
      expect(await server.ended).toBe(0);
    });

    it("aborts clientGone also for a handler that reads it after its request was cut off", async () => {
      const server = await start({ drainMs: 50 });
      (await server.client()).ask("GET /late-gone");
      await server.tells("late-gone: asked");
      await server.asks("POST /stop");
      await server.tells("stopped: 1");
      await server.open();
      await expect
        .poll(() => server.told.filter((told) => /^late-gone: (?:gone|there)$/.test(told)))
        .toEqual(["late-gone: gone"]);
    });

    it.each(["whole", "in parts", "in parts, later"])(
      "cuts off a body that does not arrive in time: %s",
      async (how) => {
        const server = await start({ drainMs: 50 });
        const path = { whole: "/size", "in parts": "/parts", "in parts, later": "/slow-parts" }[how];
        (await server.client()).send(`POST ${path} HTTP/1.1`, "host: h", "content-length: 6", "", "abc");
        if (path !== "/size") await server.tells(`${path?.slice(1)}: 3`);
        // What is sent first is read first.
        else expect(await server.asks("GET /hello")).toBe("hi");
        await server.asks("POST /stop");
        await server.tells("stopped: 1");
        await server.logs("stopped with 1 request unanswered after 0.05s");
        if (path === "/slow-parts") await server.open();
        await server.logs(`POST ${path}: busy: the server stopped before the body had arrived`);
        await server.logs(`POST ${path} 503`);
      },
    );

    it("cuts off a call that got clientGone, which its client did not end", async () => {
      const server = await start({ drainMs: 50 });
      (await server.client()).ask("GET /calls");
      await server.tells("calls: asked");
      await server.asks("POST /stop");
      await server.tells("stopped: 1");
      await server.logs("GET /calls: busy: the server stopped before its answer was made");
      await server.logs("GET /calls 503");
    });

    it.each([
      ["SIGTERM", "SIGTERM"],
      ["SIGINT", "SIGINT"],
      ["SIGTERM", "SIGINT"],
    ] as const)("by two signals ends at once: %s, %s", async (first, second) => {
      const server = await start({ drainMs });
      (await server.client()).ask("GET /never");
      await server.tells("never: asked");
      server.child.kill(first);
      await server.logs("stopping, with 1 request in flight");
      server.child.kill(second);
      expect([second, 128 + 15, 128 + 2]).toContain(await server.ended);
    });

    it("by its program, and then by a signal, answers the requests in flight", async () => {
      const server = await start({ drainMs });
      const client = (await server.client()).ask("GET /held");
      await server.tells("held: asked");
      await server.asks("POST /stop");
      server.child.kill("SIGTERM");
      await server.open();
      expect((await client.answer()).body).toBe("held");
    });

    it("leaves signals alone with the option", async () => {
      const server = await start({ signals: false });
      server.child.kill("SIGTERM");
      expect(["SIGTERM", 143]).toContain(await server.ended);
      expect(server.logged.filter((line) => line.startsWith("stopping"))).toEqual([]);
    });

    it("loses no log line", async () => {
      const server = await start({ drainMs });
      const client = await server.client();
      for (let i = 0; i < 500; i++) await client.ask("GET /hello").answer();
      server.child.kill("SIGTERM");
      await server.ended;
      expect(server.logged.filter((line) => line === "GET /hello 200")).toHaveLength(500);
    });
  });
}
