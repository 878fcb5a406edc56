/** HTTP/2 on Deno, which speaks it with each client that begins so: a request has no `Host`, and its body need not have a length. */
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { ownOriginOf } from "../../../adapters/deno/exchange.ts";
import { RawClient } from "../../support/raw-client.ts";
import { socketPath } from "../../support/spawned/listening.ts";
import { eventually } from "../../support/eventually.ts";
import { FrameClient, http2Ask, http2Client, requestBlock } from "../../support/http2-client.ts";
import { shared } from "../../support/spawned/server.ts";
import { start } from "./start.ts";

const startShared = shared(start);

describe("a request of HTTP/2", () => {
  it.each([
    ["in one part", "hello", "5 bytes"],
    ["in several parts", ["he", "", "llo"], "5 bytes"],
    ["of nothing", "", "0 bytes"],
    ["that does not begin", undefined, "0 bytes"],
  ] as const)("has its body read without a length: %s", async (_, body, text) => {
    const session = await http2Client((await startShared()).url);
    const answer = await http2Ask(session, { ":method": "POST", ":path": "/size" }, body);
    expect([answer.status, answer.body]).toEqual([200, text]);
  });

  it("has its body read with a length", async () => {
    const session = await http2Client((await startShared()).url);
    const headers = { ":method": "POST", ":path": "/size", "content-length": "5" };
    expect((await http2Ask(session, headers, "hello")).body).toBe("5 bytes");
  });

  it.each([
    ["and a body", "hello", "5 bytes"],
    ["and none", undefined, "0 bytes"],
  ])("has its body read without a length, with a Host %s", async (_, body, text) => {
    const session = await http2Client((await startShared()).url);
    const headers = { ":method": "POST", ":path": "/size", ":authority": "shop.example", host: "shop.example" };
    expect((await http2Ask(session, headers, body)).body).toBe(text);
  });

  it("with a body past the limit, and without its length, is a 413", async () => {
    const session = await http2Client((await start({ maxBody: 4 })).url);
    expect((await http2Ask(session, { ":method": "POST", ":path": "/size" }, "hello")).status).toBe(413);
  });

  it("is for the host of its authority, without TLS too", async () => {
    const session = await http2Client((await startShared()).url);
    const answer = await http2Ask(session, { ":path": "/no/where", ":authority": "shop.example:81" });
    expect(JSON.parse(answer.body)).toEqual({ method: "GET", target: "/no/where", host: "shop.example:81" });
  });

  it("from a page of its own host is of the same origin (row XO-07)", async () => {
    const session = await http2Client((await startShared()).url);
    const headers = { ":method": "POST", ":path": "/size", ":authority": "shop.example" };
    expect((await http2Ask(session, { ...headers, origin: "https://shop.example" }, "a")).status).toBe(200);
    expect((await http2Ask(session, { ...headers, origin: "https://other.example" }, "a")).status).toBe(403);
  });
});

describe("a request of HTTP/2 for the name that Deno gives its own listener", () => {
  it("from a page of that host is of the same origin", async () => {
    const { url, port } = await startShared();
    const session = await http2Client(url);
    const headers = { ":method": "POST", ":path": "/size", ":authority": `localhost:${port}` };
    expect((await http2Ask(session, { ...headers, origin: `http://localhost:${port}` }, "a")).status).toBe(200);
    expect((await http2Ask(session, { ...headers, origin: `http://localhost:${port}0` }, "a")).status).toBe(403);
  });

  it("is for that host if it arrived by https", async () => {
    const { url, port } = await startShared();
    const session = await http2Client(url);
    const headers = { ":path": "/no/where", ":authority": `localhost:${port}`, ":scheme": "https" };
    const { body } = await http2Ask(session, headers);
    expect(JSON.parse(body)).toEqual({ method: "GET", target: "/no/where", host: `localhost:${port}` });
  });
});

describe("a request of HTTP/2 on a Unix socket", () => {
  it("is for the host of its authority", async () => {
    const path = socketPath();
    await start({ socket: path });
    const session = await http2Client("http://shop.example", { createConnection: () => connect(path) });
    const { body } = await http2Ask(session, { ":path": "/no/where", ":authority": "shop.example" });
    expect(JSON.parse(body)).toEqual({ method: "GET", target: "/no/where", host: "shop.example" });
  });
});

describe("a stop", () => {
  it("sends GOAWAY to an HTTP/2 client, and answers its earlier requests", async () => {
    const server = await start();
    const client = await FrameClient.to(server.port);
    client.write("headers", 5, 1, requestBlock("/held"));
    await server.tells("held: asked");
    server.child.kill("SIGTERM");
    await eventually(() => expect(client.goaways).toContain(0));
    expect(client.endsStream).toBe(false);
    await server.open();
    await client.closed;
    expect([client.bytes, client.endsStream, client.resets]).toEqual(["held".length, true, []]);
    expect(await server.ended).toBe(0);
  });
});

describe("a request of HTTP/1.0 without Host", () => {
  const addresses = Object.values(networkInterfaces()).flatMap((found = []) => found);
  const own = addresses.filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0).map(({ address }) => address);

  it.each(["127.0.0.1", "0.0.0.0", "127.0.0.2", ...own])(
    "has no host, and not the address of the listener: %s",
    async (host) => {
      const { port } = await start({ host });
      const client = await RawClient.to(port, host === "0.0.0.0" ? "127.0.0.1" : host);
      client.send("GET /no/where HTTP/1.0", "", "");
      expect(JSON.parse((await client.answer()).body)).toEqual({ method: "GET", target: "/no/where" });
    },
  );

  it.each([
    [{ transport: "tcp", hostname: "127.0.0.1", port: 80 }, "http://localhost"],
    [{ transport: "tcp", hostname: "192.0.2.1", port: 80 }, "http://192.0.2.1"],
    [{ transport: "tcp", hostname: "::1", port: 8080 }, "http://localhost:8080"],
    [{ transport: "tcp", hostname: "2001:db8::1", port: 8080 }, "http://[2001:db8::1]:8080"],
  ])("has the host that Deno writes for its own address: %s", (address, origin) => {
    expect(ownOriginOf(address)).toBe(origin);
  });
});

describe("a request of HTTP/1.1 without a body", () => {
  it("has no body, and its connection stays open", async () => {
    const client = await (await startShared()).client();
    client.send("POST /size HTTP/1.1", "host: h", "", "");
    expect((await client.answer()).body).toBe("0 bytes");
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
  });
});
