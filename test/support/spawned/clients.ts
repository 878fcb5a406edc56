import { describe, expect, it } from "vitest";
import type { RawClient } from "../raw-client.ts";
import { shared } from "./server.ts";
import type { Start } from "./server.ts";

const ways: readonly (readonly [how: string, leave: (client: RawClient) => void])[] = [
  ["with a FIN", (client) => client.socket.end()],
  ["with a reset", (client) => client.leave()],
];

/** The disconnects of its clients that every listener notices. */
export function describeClients(start: Start): void {
  const startShared = shared(start);
  describe.each(ways)("a client that disconnects %s", (_how, leave) => {
    it("is noticed while its answer is made", async () => {
      const server = await startShared();
      const client = await server.client();
      client.ask("GET /held");
      await server.tells("held: asked");
      leave(client);
      await server.tells("held: gone");
    });

    it("ends a call that got clientGone, which is no error", async () => {
      const server = await start();
      const client = await server.client();
      client.ask("GET /calls");
      await server.tells("calls: asked");
      leave(client);
      await server.logs("GET /calls 499");
      expect(server.errors).toEqual([]);
    });

    it("is noticed while its stream is quiet, and the producer ends", async () => {
      const server = await start();
      const client = await server.client();
      client.ask("GET /quiet");
      await client.sees("before");
      leave(client);
      await server.tells("quiet: gone");
      await server.open();
      await server.tells("quiet: over");
    });

    it("is noticed while its stream continues", async () => {
      const server = await startShared();
      const client = await server.client();
      client.socket.resume();
      client.ask("GET /endless");
      await server.tells("endless: going on");
      leave(client);
      await server.tells("endless: gone");
      await server.tells("endless: over");
    });

    it("before there is a stream, and the stream is cancelled", async () => {
      const server = await start();
      const client = await server.client();
      client.ask("GET /late-stream");
      await server.tells("late-stream: asked");
      leave(client);
      // Known by the time that others were answered behind it.
      for (let i = 0; i < 3; i++) await server.asks("GET /hello");
      await server.open();
      await server.tells("late-stream: cancelled");
    });
  });

  it("after its whole answer: clientGone does not abort", async () => {
    const server = await startShared();
    const client = await server.client();
    for (const path of ["/whole", "/whole-later", "/exact"]) await client.ask(`GET ${path}`).answer();
    await server.tells("exact: over");
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    client.leave();
    for (let i = 0; i < 3; i++) await server.asks("GET /hello");
    expect(server.told).toEqual(["exact: over"]);
    expect(server.logged.filter((line) => line.startsWith("Deno.serve"))).toEqual([]);
  });

  describe("a client that does not read", () => {
    it("blocks the producer of its stream, and no other", async () => {
      const server = await startShared();
      const client = await server.client();
      client.socket.pause();
      client.ask("GET /endless");
      await server.tells("endless: going on");
      expect(await server.asks("GET /hello")).toBe("hi");
      expect(server.told).toEqual(["endless: going on"]);
    });

    it("is disconnected after the time limit", async () => {
      const server = await start({ sendTimeoutMs: 500 });
      const client = await server.client();
      client.socket.pause();
      client.ask("GET /endless");
      await server.tells("endless: over");
      await server.tells("endless: gone");
      await server.logs("client stopped reading");
    });
  });

  describe("the body of a streamed answer", () => {
    it("with a length has Content-Length, and the connection is kept", async () => {
      const client = await (await startShared()).client();
      for (let i = 0; i < 2; i++) expect((await client.ask("GET /exact").answer()).body).toBe("hello");
    });

    it("that is shorter than its length, or throws, ends its connection, and is logged", async () => {
      const server = await startShared();
      for (const [path, said] of [
        ["/short", "sent less than the length it was given"],
        ["/raises", "failed, so"],
      ] as const) {
        const client = await server.client();
        await client.ask(`GET ${path}`).closed();
        // Bun prints the error of such a stream too.
        await server.logs(`stream on ${path} ${said}`);
        await expect(client.answer()).rejects.toThrow("the connection ended");
      }
      expect(server.written.join("\n")).not.toContain("a secret");
    });

    it.each(["/long", "/crossing"])(
      "%s that is longer than its length is cut off there, and is logged",
      async (path) => {
        const server = await startShared();
        const client = await server.client();
        expect((await client.ask(`GET ${path}`).answer()).body).toBe("hello");
        expect(await server.logs("sent more than the length it was given")).toContain(`stream on ${path} `);
        expect(await server.asks("GET /hello")).toBe("hi");
      },
    );
  });
}
