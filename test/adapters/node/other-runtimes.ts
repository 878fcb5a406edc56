/** Differences of `usher-http/node` on the `node:http` of Bun and of Deno. */
import { expect } from "vitest";
import { RawClient, header } from "../../support/raw-client.ts";
import type { Start } from "../../support/spawned/server.ts";

/** Longer than any test runs. */
export const drainMs = 600_000;

/** A head that is refused without a body, with this status, and its connection closed. */
export const refuses =
  (status: number, ...head: readonly string[]) =>
  async (start: Start) => {
    const server = await start({ maxHeaderBytes: 2000 });
    const client = await server.client();
    const answered = await client.send(...head, "", "").answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([status, "", "close"]);
    expect(header(answered, "x-request-id")).toBeUndefined();
    expect(await client.rest()).toBe("");
    await server.logs(`refused a request head: ${status} `);
    expect(await server.asks("GET /hello")).toBe("hi");
  };

/** A server that stops while a client reads a large answer, and continues to read it. */
export async function stopsUnderAnAnswer(start: Start) {
  const server = await start({ drainMs });
  const client = await server.client();
  client.ask("GET /large");
  await client.sees("\r\n\r\n");
  client.socket.pause();
  server.child.kill("SIGTERM");
  await server.logs("stopping, with 1 request in flight");
  client.socket.resume();
  return { server, client };
}

/** The differences: the reason, and what happens instead of the listed case. */
export const differs: {
  readonly [runtime: string]: { readonly [what: string]: readonly [why: string, run: (start: Start) => Promise<void>] };
} = {
  bun: {
    "OPTIONS * is answered": ["it refuses the target, with a 400", refuses(400, "OPTIONS * HTTP/1.1", "host: h")],
    "a request line past it is a 414": [
      "it does not show how far into a head it got: 431",
      refuses(431, `GET /${"x".repeat(3000)} HTTP/1.1`, "host: h"),
    ],
    "a connection that never sends a byte is closed when it was idle, with no word": [
      "it does not tell one from half a head: 408, when that has had its time",
      async (start) => {
        const client = await (await start({ headTimeoutMs: 100, idleTimeoutMs: 800 })).client();
        expect((await client.answer()).status).toBe(408);
        expect(await client.rest()).toBe("");
      },
    ],
    "a server that stops closes what never asked": [
      "it may say nothing of a connection that sent nothing, whose process then ends with its client",
      async (start) => {
        const server = await start({ drainMs });
        const client = await server.client();
        expect(await server.asks("GET /hello")).toBe("hi");
        server.child.kill("SIGTERM");
        await server.logs("stopped");
        await expect(RawClient.to(server.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
        client.leave();
        expect(await server.ended).toBe(0);
      },
    ],
    "a server that stops lets a client take what it has begun to take": [
      "it closes the connection with what is left",
      async (start) => {
        const { server, client } = await stopsUnderAnAnswer(start);
        expect((await client.rest()).length).toBeLessThan(8_000_000);
        expect(await server.ended).toBe(0);
      },
    ],
  },
  deno: {
    "two spaces in the request line are refused": [
      "it passes over them, as Node does",
      async (start) => {
        const client = await (await start()).client();
        const answered = await client.send("GET  /hello HTTP/1.1", "host: h", "", "").answer();
        expect([answered.status, answered.body]).toEqual([200, "hi"]);
      },
    ],
  },
};

/** Behavior that varies there; it is described here and not tested. */
export const either: { readonly [runtime: string]: { readonly [what: string]: string } } = {
  bun: {
    "a client that ends its side is answered":
      "it closes the connection as soon as it sees the end, and told not to, says nothing of clients that go",
  },
};
