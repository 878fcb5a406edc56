/** Behavior of Deno only. */
import { describe, expect, it } from "vitest";
import { header } from "../../support/raw-client.ts";
import { shared } from "../../support/spawned/server.ts";
import { start } from "./start.ts";

const startShared = shared(start);

describe("a request", () => {
  it.each([
    ["http://elsewhere/no/where?a", "/no/where?a", "elsewhere"],
    ["http://elsewhere", "/", "elsewhere"],
    ["http://elsewhere?a", "/?a", "elsewhere"],
    ["http://elsewhere:1/a/b", "/a/b", "elsewhere:1"],
  ])("for %s is for %s", async (sent, target, host) => {
    const client = await (await startShared()).client();
    client.send(`GET ${sent} HTTP/1.1`, "host: h", "", "");
    expect(JSON.parse((await client.answer()).body)).toEqual({ method: "GET", target, host });
  });

  it("for another with userinfo is a 400", async () => {
    const client = await (await startShared()).client();
    expect((await client.send("GET http://me@elsewhere/hello HTTP/1.1", "host: h", "", "").answer()).status).toBe(400);
  });

  // Deviations of runtimes.md: Deno answers before the adapter has the request. Where one is read, take it out of the page.
  const upgrade = ["connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQCAAAAAAIAAAAA"];
  it.each([
    ["h2c with a length", upgrade, "content-length: 5", "hello"],
    ["h2c in chunks", upgrade, "transfer-encoding: chunked", "0\r\n\r\n"],
    ["h2c with an empty body", upgrade, "content-length: 0", ""],
    ["another protocol", ["connection: upgrade", "upgrade: irc"], "content-length: 5", "hello"],
  ])("with an upgrade and a body is refused by Deno itself: %s", async (_what, lines, framing, body) => {
    const client = await (await startShared()).client();
    const answered = await client.send("POST /hello HTTP/1.1", "host: h", ...lines, framing, "", body).answer();
    expect([answered.status, answered.body, header(answered, "x-request-id")]).toEqual([400, "", undefined]);
  });

  it("with an upgrade and no body is answered", async () => {
    const client = await (await startShared()).client();
    expect((await client.ask("GET /hello", upgrade).answer()).body).toBe("hi");
  });

  it("of a line that never ends is refused by Deno itself", async () => {
    const client = await (await startShared()).client();
    client.socket.write(`GET /${"a".repeat(2_000_000)}`);
    expect((await client.answer()).status).toBe(400);
  });

  it("keeps the segments that a URL would lose", async () => {
    const client = await (await startShared()).client();
    for (const target of ["/a/../b", "/a/%2e%2e/b", "/a\\b"]) {
      expect(JSON.parse((await client.ask(`GET ${target}`).answer()).body).target).toBe(target);
    }
  });

  it("with a target past ASCII is a 400", async () => {
    const client = await (await startShared()).client();
    expect((await client.send("GET /\u00c3\u00a9 HTTP/1.1", "host: h", "", "").answer()).status).toBe(400);
  });

  it("to OPTIONS * is answered by the server itself", async () => {
    const client = await (await startShared()).client();
    expect((await client.ask("OPTIONS *").answer()).status).toBe(204);
  });

  it("of any method is answered by the app", async () => {
    const client = await (await startShared()).client();
    for (const method of ["MADEUP", "get", "TRACE"]) {
      expect((await client.ask(`${method} /hello`).answer()).status).toBe(501);
    }
    expect((await client.send("CONNECT a:1 HTTP/1.1", "host: h", "", "").answer()).status).toBe(501);
  });

  it("after a pending one is answered in its turn", async () => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /held").ask("GET /hello");
    await server.tells("held: asked");
    await server.open();
    expect([(await client.answer()).body, (await client.answer()).body]).toEqual(["held", "hi"]);
  });

  it("with a transfer coding besides chunked is a 400 when its body is read", async () => {
    const server = await startShared();
    const client = await server.client();
    client.send("POST /size HTTP/1.1", "host: h", "transfer-encoding: gzip, chunked", "", "1", "a", "0", "", "");
    expect((await client.answer()).status).toBe(400);
    await server.logs("a transfer coding that is not chunked");
  });
});

describe("a handshake that offers HTTP/2 first is a 426, and the process continues", () => {
  const handshake = ["connection: upgrade", "sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="];
  it.each([
    ["/socket", "upgrade: h2c", "upgrade: websocket"],
    ["/socket", "UPGRADE: H2C", "Upgrade: WebSocket"],
    ["/socket", "upgrade:\t h2c \t", "upgrade: websocket"],
    ["/socket", "upgrade: h2c", "upgrade: other", "upgrade: websocket"],
    ["/socket", "upgrade: h2c", "upgrade: websocket", "connection: HTTP2-Settings", "http2-settings: AAMAAABk"],
    ["/socket/later", "upgrade: h2c", "upgrade: websocket"],
  ])("%s with %s, %s", async (path, ...upgrades) => {
    const server = await startShared();
    for (let i = 0; i < 3; i++) {
      const client = await server.client();
      expect((await client.ask(`GET ${path}`, [...upgrades, ...handshake]).answer()).status).toBe(426);
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    }
    const client = await server.client();
    expect((await client.ask("GET /socket", ["upgrade: websocket", ...handshake]).answer()).status).toBe(101);
    expect(server.errors).toEqual([]);
  });
});

describe("an answer", () => {
  it("that would be a 205 is a 204: Deno sends a 205 without any framing", async () => {
    const client = await (await startShared()).client();
    const answered = await client.ask("GET /empty").answer();
    expect([answered.status, header(answered, "content-length")]).toEqual([204, undefined]);
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
  });

  it("that is a stream has its head sent before its first chunk", async () => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /late-head");
    await client.sees("\r\n\r\n");
    await server.open();
    const answered = await client.answer();
    expect([answered.body, header(answered, "content-type")]).toEqual(["late", "application/octet-stream"]);
  });

  it("is the same for every Accept-Encoding", async () => {
    const client = await (await startShared()).client();
    const answered = await client.ask("GET /large", ["accept-encoding: gzip, br"]).answer();
    expect([answered.body.length, header(answered, "content-encoding")]).toEqual([8_000_000, undefined]);
  });
});

describe("a server that stops", () => {
  it.each([
    ["a stream whose producer made everything at once", "/heavy"],
    ["a stream that is quiet then", "/heavy/quiet"],
  ])(
    "closes the connection of a client that does not read %s, and ends its process without an error",
    async (_what, path) => {
      const server = await start({ drainMs: 500 });
      const client = await server.client();
      client.socket.pause();
      client.ask(`GET ${path}`);
      expect(await server.asks("GET /hello")).toBe("hi");
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(server.logged.slice(-2)).toEqual([
        `stream on ${path} ended: server stopped`,
        "stopped with 1 request unanswered after 0.5s",
      ]);
      client.socket.resume();
      await client.closed();
    },
  );
});

describe("a server that stops logs nothing about a body", () => {
  it.each([
    ["that came whole", "content-length: 3", "abc", false],
    ["that came whole in parts", "transfer-encoding: chunked", "3\r\nabc\r\n0\r\n\r\n", false],
    ["that broke off", "content-length: 3", "ab", true],
    ["that broke off in parts", "transfer-encoding: chunked", "3\r\nabc\r\n", true],
  ])("%s", async (_what, framing, body, breaks) => {
    const server = await start({ drainMs: 600_000 });
    const client = await server.client();
    client.send("POST /size HTTP/1.1", "host: h", framing, "", body);
    if (breaks) {
      client.halfClose();
      await server.logs("the body ended early");
    } else expect((await client.answer()).body).toBe("3 bytes");
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(server.logged.slice(-2)).toEqual(["stopping, with 0 requests in flight", "stopped"]);
  });
});

describe("an option", () => {
  it("that Deno does not support is logged", async () => {
    const server = await start({ headTimeoutMs: 1, idleTimeoutMs: 1, maxConnections: 1, maxHeaderBytes: 70_000 });
    for (const name of ["headTimeoutMs", "idleTimeoutMs", "maxConnections"]) {
      await server.logs(`${name} is not kept on Deno`);
    }
    await server.logs("maxHeaderBytes is at most 65536 on Deno");
  });
});

describe("console.warn", () => {
  // Deno warns there, once, that its signal aborts after an answer.
  it("that an application sets after the warning was hidden stays", async () => {
    const server = await start({}, "warning-program.ts");
    expect(await server.asks("GET /sets")).toBe("set");
    for (let i = 0; i < 3; i++) expect(await server.asks("GET /whose")).toBe("mine, 1");
  });
});

describe("a line of the log", () => {
  it("has the trace of its caller, though nothing read a header before the request was answered", async () => {
    const server = await start({}, "program.ts");
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const client = await server.client();
    const answered = await client.ask("GET /late", [`traceparent: 00-${traceId}-00f067aa0ba902b7-01`]).answer();
    expect(JSON.parse(await server.logs("late"))).toMatchObject({
      request_id: header(answered, "x-request-id"),
      trace_id: traceId,
    });
  });
});
