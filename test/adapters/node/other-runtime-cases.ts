/** Behavior that Node's listener must have on Bun and Deno too. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { endsWithTest } from "../../support/ends.ts";
import { atSomeSpeed } from "../../support/eventually.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import type { Start } from "../../support/spawned/server.ts";
import { drainMs, refuses, stopsUnderAnAnswer } from "./other-runtimes.ts";

const folders: string[] = [];
endsWithTest(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "usher-other-"));
  folders.push(folder);
  return join(folder, "s");
}

const chunked = "transfer-encoding: chunked";
const handshake = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];
const posts = (path: string, ...lines: readonly string[]) => [`POST ${path} HTTP/1.1`, "host: h", ...lines, "", ""];

export const cases: { readonly [what: string]: (start: Start) => Promise<void> } = {
  "requests are answered one after the other, sync and not": async (start) => {
    const client = await (await start()).client();
    for (const path of ["/hello", "/later", "/hello"]) {
      const answered = await client.ask(`GET ${path}`).answer();
      expect([answered.status, answered.body.slice(0, 2), header(answered, "connection")]).toEqual([
        200,
        "hi",
        undefined,
      ]);
    }
  },
  "the head has its names in lower case and in their order": async (start) => {
    const { head } = await (await (await start()).client()).ask("GET /hello").answer();
    expect(head.map(([name]) => name)).toEqual(["content-type", "x-request-id", "date", "content-length"]);
  },
  "requests that are pipelined are answered in order": async (start) => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /held").ask("GET /hello").ask("POST /size", [], "four").ask("GET /later");
    await server.tells("held: asked");
    await server.open();
    const bodies = [];
    for (let i = 0; i < 4; i++) bodies.push((await client.answer()).body);
    expect(bodies).toEqual(["held", "hi", "4 bytes", "hi, later"]);
  },
  "what is ahead of a CONNECT or an Upgrade is answered, and the server goes on": async (start) => {
    const server = await start();
    const handshake = [
      "connection: upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    const clients = [];
    for (const behind of [
      ["CONNECT h:80 HTTP/1.1", "host: h:80", "", ""],
      ["CONNECT /x HTTP/1.1", "host: h", "", ""],
      ["GET /socket HTTP/1.1", "host: h", ...handshake, "", ""],
      ["GET /socket HTTP/1.1", "host: h", ...handshake, "content-length: 3", "", "abc"],
      ["GET /hello HTTP/1.1", "host: h", "connection: upgrade", "upgrade: h2c", "", ""],
      ["POST /size HTTP/1.1", "host: h", "connection: upgrade", "upgrade: h2c", "content-length: 4", "", "four"],
    ]) {
      const client = await server.client();
      clients.push(client.ask("GET /held").send(...behind));
      await turns(server.port);
    }
    await server.open();
    for (const client of clients) expect((await client.answer()).body).toBe("held");
    expect(await server.asks("GET /hello")).toBe("hi");
  },
  "early hints are not sent, and break nothing": async (start) => {
    const client = await (await start()).client();
    for (let i = 0; i < 2; i++)
      expect(await client.ask("GET /hinted").answer()).toMatchObject({ status: 200, body: "hinted" });
  },
  "HTTP/1.0 is closed after its answer": async (start) => {
    const client = await (await start()).client();
    const answered = await client.send("GET /hello HTTP/1.0", "", "").answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["hi", "close"]);
    expect(await client.rest()).toBe("");
  },
  "a client that asks for the end of its connection is told that it has it": async (start) => {
    for (const value of ["close", "Close", "x-hop, close"]) {
      const client = await (await start()).client();
      const answered = await client.ask("GET /hello", [`connection: ${value}`]).answer();
      expect([answered.body, header(answered, "connection")]).toEqual(["hi", "close"]);
      expect(await client.rest()).toBe("");
    }
  },
  "a target is as it was sent": async (start) => {
    const client = await (await start()).client();
    for (const target of ["/a%2Fb/%2e%2E/..", "//a", "/%zz", "/a?b=c/d"]) {
      expect(JSON.parse((await client.ask(`GET ${target}`).answer()).body)).toMatchObject({ target });
    }
  },
  "OPTIONS * is answered": async (start) => {
    expect((await (await (await start()).client()).ask("OPTIONS *").answer()).status).toBe(204);
  },
  "CONNECT is answered, and closed": async (start) => {
    const client = await (await start()).client();
    expect((await client.send("CONNECT h:443 HTTP/1.1", "host: h", "", "").answer()).status).toBe(501);
    expect(await client.rest()).toBe("");
  },

  "a body is read whole, by its length and in chunks": async (start) => {
    const client = await (await start()).client();
    expect((await client.ask("POST /size", [], "x".repeat(500_000)).answer()).body).toBe("500000 bytes");
    client.send(...posts("/size", chunked).slice(0, -1), "3", "abc", "1", "d", "0", "", "");
    expect((await client.answer()).body).toBe("4 bytes");
  },
  "a body is read in parts as they come": async (start) => {
    const server = await start();
    const client = await server.client();
    client.send(...posts("/parts", "content-length: 6")).send("abc");
    await server.tells("parts: 3");
    expect((await client.send("def").answer()).body).toBe("6 bytes");
  },
  "a body past the limit is a 413": async (start) => {
    const client = await (await start({ maxBody: 10 })).client();
    expect((await client.ask("POST /size", [], "x".repeat(11)).answer()).status).toBe(413);
    expect((await client.ask("POST /size", [], "x".repeat(10)).answer()).body).toBe("10 bytes");
  },
  "a body that nobody reads is dropped, and past 64 KiB ends the connection": async (start) => {
    const client = await (await start()).client();
    client.ask("POST /unread", [], "x".repeat(60_000)).ask("GET /hello");
    expect((await client.answer()).body).toBe("not read");
    expect((await client.answer()).body).toBe("hi");
    const answered = await client.ask("POST /unread", [], "x".repeat(2_000_000)).answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["not read", "close"]);
    await client.closed();
  },
  "a body that stops coming is a 400": async (start) => {
    const server = await start({ bodyTimeoutMs: 200, minBodyRate: 1_000_000 });
    for (const path of ["/size", "/parts"]) {
      const client = await server.client();
      const answered = await client
        .send(...posts(path, "content-length: 10"))
        .send("abc")
        .answer();
      expect([answered.status, header(answered, "connection")]).toEqual([400, "close"]);
    }
  },
  "a body whose chunks are none is a 400": async (start) => {
    const client = await (await start()).client();
    expect(
      (
        await client
          .send(...posts("/size", chunked))
          .send("zz\r\n")
          .answer()
      ).status,
    ).toBe(400);
    await client.closed();
  },
  "a body that its client breaks off is said so, and takes nothing with it": async (start) => {
    const server = await start();
    const client = await server.client();
    client.send(...posts("/size", "content-length: 10")).send("abc");
    client.leave();
    await server.logs("the body ended early");
    expect(await server.asks("GET /hello")).toBe("hi");
  },
  "a body that its client ends early is a 400": async (start) => {
    const client = await (await start()).client();
    client
      .send(...posts("/size", "content-length: 10"))
      .send("abc")
      .halfClose();
    expect((await client.answer()).status).toBe(400);
  },
  "100 Continue is said where a body is read, and only there": async (start) => {
    const client = await (await start()).client();
    client.send(...posts("/size", "expect: 100-continue", "content-length: 4"));
    expect((await client.answer()).status).toBe(100);
    expect((await client.send("four").answer()).body).toBe("4 bytes");
    const answered = await client.send(...posts("/unread", "expect: 100-continue", "content-length: 4")).answer();
    expect([answered.status, header(answered, "connection")]).toEqual([200, "close"]);
  },

  "a stream comes as it is made, and the connection is kept": async (start) => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /quiet");
    await client.sees("\r\n\r\n7\r\nbefore \r\n");
    await server.open();
    expect((await client.answer()).body).toBe("before after");
    expect((await client.ask("GET /exact").answer()).body).toBe("hello");
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
  },
  "a stream that raises is seen to be cut": async (start) => {
    const client = await (await start()).client();
    expect(await client.ask("GET /raises").rest()).not.toContain("\r\n0\r\n\r\n");
  },
  "a stream is held back by a client that takes nothing, which is cut off in time": async (start) => {
    const server = await start({ sendTimeoutMs: 500 });
    const client = await server.client();
    client.socket.pause();
    client.ask("GET /endless");
    await server.tells("endless: over");
    await server.logs("closed a connection whose client stopped reading for 0.5s");
    expect(await server.asks("GET /hello")).toBe("hi");
  },
  "a WebSocket is held back by a client that takes nothing, which is cut off in time": async (start) => {
    const server = await start({ sendTimeoutMs: 500 });
    const client = await server.client();
    client.socket.pause();
    client.ask("GET /socket/floods", handshake);
    await server.logs("socket on /socket/floods ended: lost: nothing written was taken for 0.5s");
    expect(await server.asks("GET /hello")).toBe("hi");
  },

  "clientGone is told of a client that resets": async (start) => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /held");
    await server.tells("held: asked");
    client.leave();
    await server.tells("held: gone");
    expect(await server.asks("GET /hello")).toBe("hi");
  },
  "clientGone is told of a client that closes": async (start) => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /held");
    await server.tells("held: asked");
    client.close();
    await server.tells("held: gone");
    expect(await server.asks("GET /hello")).toBe("hi");
  },
  "a request behind one that is not answered does not run, and clientGone is told of the first": async (start) => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /held").ask("GET /whole");
    await server.tells("held: asked");
    client.leave();
    await server.tells("held: gone");
    expect(server.told.filter((what) => what.startsWith("whole"))).toEqual([]);
    expect(await server.asks("GET /hello")).toBe("hi");
  },
  "a quiet stream is ended with its client": async (start) => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /quiet");
    await client.sees("before");
    client.close();
    await server.logs("stream on /quiet ended: client gone");
    expect(await server.asks("GET /hello")).toBe("hi");
  },
  "a client that ends its side is answered": async (start) => {
    const server = await start();
    const client = await server.client();
    client.ask("GET /held");
    await server.tells("held: asked");
    client.halfClose();
    for (let i = 0; i < 3; i++) await server.asks("GET /hello");
    await server.open();
    expect((await client.answer()).body).toBe("held");
    expect(await client.rest()).toBe("");
  },

  "two Hosts are refused": refuses(400, "GET /hello HTTP/1.1", "host: h", "host: g"),
  "a Host that is none is refused": refuses(400, "GET /hello HTTP/1.1", "host: u@h"),
  "HTTP/1.1 without a Host is refused": refuses(400, "GET /hello HTTP/1.1", "x: y"),
  "a target with userinfo is refused": refuses(400, "GET http://u@h/hello HTTP/1.1", "host: h"),
  "GET of everything is refused": refuses(400, "GET * HTTP/1.1", "host: h"),
  "two spaces in the request line are refused": refuses(400, "GET  /hello HTTP/1.1", "host: h"),
  "HTTP/2.0 is a 505": refuses(505, "GET /hello HTTP/2.0", "host: h"),
  "no request is a 400": refuses(400, "no request"),
  "a field past the limit is a 431": refuses(431, "GET /hello HTTP/1.1", "host: h", `x: ${"x".repeat(3000)}`),
  "a request line past it is a 414": refuses(414, `GET /${"x".repeat(3000)} HTTP/1.1`, "host: h"),
  "two framings are refused": refuses(400, "POST /size HTTP/1.1", "host: h", "content-length: 1", chunked),
  "a coding under chunks is a 501": refuses(501, "POST /size HTTP/1.1", "host: h", "transfer-encoding: gzip, chunked"),

  "a head that does not come is a 408": async (start) => {
    const client = await (await start({ headTimeoutMs: 200 })).client();
    expect((await client.send("GET /hello HTTP/1.1\r\nho").answer()).status).toBe(408);
  },
  "a connection that never sends a byte is closed when it was idle, with no word": async (start) => {
    const client = await (await start({ headTimeoutMs: 100, idleTimeoutMs: 800 })).client();
    expect(await client.rest()).toBe("");
  },
  "a connection that was asked on is closed when it was idle": async (start) => {
    await atSomeSpeed(async (factor) => {
      const client = await (await start({ idleTimeoutMs: 200 * factor })).client();
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
      expect(await client.rest()).toBe("");
    });
  },

  "a Unix socket is listened on, names its peer, is taken over and is gone with the server": async (start) => {
    const socket = socketPath();
    const options = { socket, trustedProxies: [`unix:${socket}`] };
    await (await start(options)).kill();
    expect(existsSync(socket)).toBe(true);
    const server = await start(options);
    expect(server.url).toBe(`unix:${socket}`);
    const client = await RawClient.to(socket);
    expect((await client.ask("GET /peer", ["x-forwarded-for: 192.0.2.7"]).answer()).body).toBe(
      `unix:${socket} 192.0.2.7`,
    );
    await expect(start(options)).rejects.toThrow(
      `serve: the path ${socket} is taken: stop the program that has it, or set`,
    );
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(existsSync(socket)).toBe(false);
  },
  "both loopback addresses are listened on, and name their peers": async (start) => {
    const server = await start({ host: "localhost" });
    for (const address of ["127.0.0.1", "::1"]) {
      expect((await (await server.client(address)).ask("GET /peer").answer()).body).toBe(`${address} ${address}`);
    }
  },
  "a port that is taken is an error": async (start) => {
    const { port } = await start();
    const said = `serve: port ${port} of 127.0.0.1 is taken: stop the program that has it, or set another one`;
    await expect(start({ port })).rejects.toThrow(said);
  },

  "a server that stops lets what is in flight finish, and closes what is idle": async (start) => {
    const server = await start({ drainMs });
    const [held, idle] = await Promise.all([server.client(), server.client()]);
    expect((await idle.ask("GET /hello").answer()).body).toBe("hi");
    held.ask("GET /held");
    await server.tells("held: asked");
    server.child.kill("SIGTERM");
    await server.logs("stopping, with 1 request in flight");
    expect(await idle.rest()).toBe("");
    await expect(RawClient.to(server.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await server.open();
    const answered = await held.answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["held", "close"]);
    expect(await server.ended).toBe(0);
  },
  "a server that stops closes what never asked": async (start) => {
    const server = await start({ drainMs });
    const client = await server.client();
    expect(await server.asks("GET /hello")).toBe("hi");
    server.child.kill("SIGTERM");
    expect(await client.rest()).toBe("");
  },
  "a server that stops ends its streams of events, and tells what makes them": async (start) => {
    const server = await start({ drainMs });
    const client = await server.client();
    client.ask("GET /ticks/t");
    await client.sees(": tick");
    server.child.kill("SIGTERM");
    await server.tells("t: ended");
    await server.logs("stream on /ticks/t ended: server stopped");
    expect((await client.answer()).body).toMatch(/: stopping\n\n$/);
    expect(await server.ended).toBe(0);
  },
  "a server that stops lets any other stream come to its end": async (start) => {
    const server = await start({ drainMs });
    const client = await server.client();
    client.ask("GET /quiet");
    await client.sees("before");
    server.child.kill("SIGTERM");
    await server.logs("stopping, with 1 request in flight");
    await server.open();
    expect((await client.answer()).body).toBe("before after");
    expect(await server.ended).toBe(0);
  },
  "a server that stops lets a client take what it has begun to take": async (start) => {
    const { server, client } = await stopsUnderAnAnswer(start);
    expect((await client.answer()).body.length).toBe(8_000_000);
    expect(await server.ended).toBe(0);
  },
  "a server that stops cuts what is not answered in time, and counts it": async (start) => {
    const server = await start({ drainMs: 100 });
    const client = await server.client();
    client.ask("GET /never");
    await server.tells("never: asked");
    await server.asks("POST /stop");
    await server.tells("stopped: 1");
    await server.tells("never: gone");
    expect(await client.rest()).toBe("");
  },
  "a second signal ends it at once": async (start) => {
    const server = await start({ drainMs });
    (await server.client()).ask("GET /never");
    await server.tells("never: asked");
    server.child.kill("SIGTERM");
    await server.logs("stopping, with 1 request in flight");
    server.child.kill("SIGTERM");
    expect(["SIGTERM", 143]).toContain(await server.ended);
  },
};
