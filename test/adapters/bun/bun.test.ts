/** Behavior of Bun only. */
import { describe, expect, it } from "vitest";
import { atSomeSpeed } from "../../support/eventually.ts";
import { header } from "../../support/raw-client.ts";
import { shared } from "../../support/spawned/server.ts";
import { start } from "./start.ts";

const startShared = shared(start);

describe("a request", () => {
  it("of HTTP/1.0 needs no Host, and ends its connection", async () => {
    const client = await (await startShared()).client();
    const answered = await client.send("GET /no/where HTTP/1.0", "", "").answer();
    expect(JSON.parse(answered.body)).toEqual({ method: "GET", target: "/no/where" });
    await client.closed();
  });

  it("to CONNECT reaches no route", async () => {
    const server = await startShared();
    for (const [target, status] of [
      ["http:80", 501],
      ["http", 400],
    ] as const) {
      const client = await server.client();
      expect((await client.send(`CONNECT ${target} HTTP/1.1`, "host: h", "", "").answer()).status).toBe(status);
      await client.closed();
    }
  });

  it.each(["h2c", "irc", "websocket"])(
    "with a body and an upgrade to %s is answered, unlike on Deno",
    async (protocol) => {
      const client = await (await startShared()).client();
      const lines = ["host: h", "connection: upgrade", `upgrade: ${protocol}`, "content-length: 5"];
      expect((await client.send("POST /size HTTP/1.1", ...lines, "", "hello").answer()).body).toBe("5 bytes");
    },
  );

  // A deviation of runtimes.md: Bun answers before the adapter has the request.
  it("of a line that never ends is refused by Bun itself", async () => {
    const client = await (await startShared()).client();
    client.socket.write(`GET /${"a".repeat(100_000)}`);
    expect((await client.answer()).status).toBe(431);
  });

  it("after a pending one ends both on an error, and nothing else", async () => {
    const server = await startShared();
    const client = await server.client();
    client.ask("GET /held").ask("GET /hello");
    await server.tells("held: gone");
    expect(await client.rest()).toBe("");
    expect(await server.asks("GET /hello")).toBe("hi");
  });

  it("after one that is answered at once is answered in its turn", async () => {
    const client = await (await startShared()).client();
    client.ask("GET /hello").ask("GET /peer");
    expect([(await client.answer()).body, (await client.answer()).body]).toEqual(["hi", "127.0.0.1 127.0.0.1"]);
  });
});

describe("an answer", () => {
  it("that closes its connection does so", async () => {
    const client = await (await startShared()).client();
    expect(header(await client.ask("GET /closes").answer(), "connection")).toBe("close");
    await client.closed();
  });

  it("to an unread body ends the connection if the body is long, or endless", async () => {
    const server = await startShared();
    for (const [framing, body, ends] of [
      ["content-length: 65536", "x".repeat(65_536), false],
      ["content-length: 65537", "", true],
      ["transfer-encoding: chunked", "1\r\na\r\n0\r\n\r\n", false],
      ["transfer-encoding: chunked", `10001\r\n${"x".repeat(65_537)}`, true],
      ["transfer-encoding: chunked", "1\r\na\r\n", true],
    ] as const) {
      const client = await server.client();
      const answered = await client.send("POST /unread HTTP/1.1", "host: h", framing, "", body).answer();
      expect([answered.status, header(answered, "connection")]).toEqual([200, ends ? "close" : undefined]);
      if (ends) await client.closed();
      else expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    }
  });

  it("does not wait for a short body that the handler does not read", async () => {
    const client = await (await startShared()).client();
    const answered = await client.send("POST /unread HTTP/1.1", "host: h", "content-length: 3", "", "").answer();
    expect([answered.status, header(answered, "connection")]).toEqual([200, undefined]);
    expect((await client.send("abc").ask("GET /hello").answer()).body).toBe("hi");
  });

  it("does not wait for the rest of a partly read body, and the connection is kept", async () => {
    const client = await (await startShared()).client();
    const answered = await client.send("POST /first HTTP/1.1", "host: h", "content-length: 6", "", "abc").answer();
    expect([answered.status, header(answered, "connection")]).toEqual([200, undefined]);
    expect((await client.send("def").ask("GET /hello").answer()).body).toBe("hi");
  });

  it("that is a 205 has no body, and the connection is kept", async () => {
    const client = await (await startShared()).client();
    const answered = await client.ask("GET /empty").answer();
    expect([answered.status, header(answered, "content-length")]).toEqual([205, "0"]);
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
  });

  it("that is an event stream has its head sent before the first event", async () => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /events");
    await client.sees("\r\n\r\n");
    // The head is sent once, however long the first event takes.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await server.open();
    expect((await client.answer()).body).toBe(":\n\nlate");
  });

  it("that is a stream which fails at once is only a log line, and Bun prints no source code", async () => {
    const server = await startShared();
    await (await server.client()).ask("GET /raises").closed();
    await server.logs("stream on /raises failed");
    expect(await server.asks("GET /hello")).toBe("hi");
    expect(server.written.filter((line) => !line.startsWith("{"))).toEqual([]);
  });

  it("that a client does not read ends after sendTimeoutMs", async () => {
    const server = await start({ sendTimeoutMs: 1000 });
    const client = await server.client();
    client.socket.pause();
    client.ask("GET /large-watched");
    await server.tells("large: gone");
  });
});

describe("an option", () => {
  it("idleTimeoutMs ends a connection without a request, also after a slow answer", async () => {
    await atSomeSpeed(async (factor) => {
      const server = await start({ idleTimeoutMs: 1000 * factor });
      const clients = await Promise.all(["/hello", "/later", "/exact", "/held"].map(() => server.client()));
      for (const [i, path] of ["/hello", "/later", "/exact"].entries()) {
        await clients[i]?.ask(`GET ${path}`).answer();
      }
      clients[3]?.ask("GET /held");
      for (const client of clients.slice(0, 3)) await client.closed();
      await server.open();
      expect((await clients[3]?.answer())?.body).toBe("held");
      expect(await clients[3]?.rest()).toBe("");
    });
  });

  it("idleTimeoutMs does not end a quiet stream, or a request whose handler or body is pending", async () => {
    const server = await start({ idleTimeoutMs: 1, sendTimeoutMs: 1 });
    const [quiet, held, sending] = await Promise.all([server.client(), server.client(), server.client()]);
    quiet.ask("GET /quiet");
    held.ask("GET /held");
    sending.send("POST /parts HTTP/1.1", "host: h", "content-length: 6", "", "abc");
    await quiet.sees("before");
    await server.tells("held: asked");
    await server.tells("parts: 3");
    for (let i = 0; i < 2; i++) {
      const idle = await server.client();
      await idle.ask("GET /hello").answer();
      await idle.closed();
    }
    await server.open();
    sending.send("def");
    expect((await quiet.answer()).body).toBe("before after");
    expect((await held.answer()).body).toBe("held");
    expect((await sending.answer()).body).toBe("6 bytes");
  });

  it("of a time that Bun cannot hold is refused", async () => {
    await expect(start({ idleTimeoutMs: 255_001 })).rejects.toThrow("serve: idleTimeoutMs cannot be 255001: on Bun");
    await expect(start({ sendTimeoutMs: 255_001 })).rejects.toThrow("serve: sendTimeoutMs cannot be 255001: on Bun");
  });

  it("that Bun does not support is logged", async () => {
    const server = await start({ headTimeoutMs: 1000, maxConnections: 1 });
    await server.logs("headTimeoutMs is not kept on Bun");
    await server.logs("maxConnections is not kept on Bun");
  });
});
