/** A Unix socket in place of a TCP address (contract 8; rows SV-22 to SV-28, CK-04): listening, and trusted proxies. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Server as Listening, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { Codec, Cookie, Path, Proxies, Returns, client, get, peer, request, requestId, setCookie } from "usher-http";
import { serve } from "usher-http/node";
import { messages } from "../../support/logs.ts";
import { gate, start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";

const folder = mkdtempSync(join(tmpdir(), "usher-unix-"));
afterAll(() => rmSync(folder, { recursive: true }));
let made = 0;
const path = () => join(folder, `${made++}.sock`);

const taken: Listening[] = [];
afterEach(() => Promise.all(taken.splice(0).map((server) => new Promise((resolve) => server.close(resolve)))));

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");
const hi = async (path: string) => (await (await RawClient.to(path)).ask("GET /hello").answer()).body;

/** Leaves a socket file behind, as a server does that was killed. */
async function dies(path: string): Promise<void> {
  const listens = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => console.log("listening"))`;
  const child = spawn(process.execPath, ["-e", listens], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
}

describe("a Unix socket", () => {
  it("is listened on in place of an address, is in the log, and is removed with its server", async () => {
    const socket = path();
    // The port is ignored: one that is in use would be an error.
    const server = await start([hello], { socket, port: 1, host: "192.0.2.1" });
    expect([server.url, server.port]).toEqual([`unix:${socket}`, 0]);
    expect(messages("info")).toEqual([`listening on unix:${socket} (${socket})`]);
    expect(await hi(socket)).toBe("hi");
    expect(await server.stop()).toBe(0);
    expect(existsSync(socket)).toBe(false);
  });

  it("of a killed server is replaced", async () => {
    const socket = path();
    await dies(socket);
    expect(lstatSync(socket).isSocket()).toBe(true);
    const server = await start([hello], { socket });
    expect(await hi(socket)).toBe("hi");
    await server.stop();
    expect(existsSync(socket)).toBe(false);
  });

  it("of a killed server is replaced by one of two servers that start concurrently", async () => {
    const socket = path();
    await dies(socket);
    const starting = [start([hello], { socket }), start([hello], { socket })];
    const started = await Promise.allSettled(starting);
    expect(started.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(started.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "EADDRINUSE" } });
    expect(await hi(socket)).toBe("hi");
  });

  it("of another running server is an error, and stays", async () => {
    const socket = path();
    const first = await start([hello], { socket });
    await expect(serve([hello], { socket, signals: false })).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(await hi(socket)).toBe("hi");
    await first.stop();
  });

  it("of another running server that does not answer is an error, too", async () => {
    const socket = path();
    const server = createServer();
    taken.push(server);
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const asked = once(server, "connection") as Promise<[Socket]>;
    await expect(serve([hello], { socket, signals: false })).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(existsSync(socket)).toBe(true);
    // The connection that checked whether it is in use is not left open.
    const [connection] = await asked;
    if (!connection.closed) await once(connection.resume(), "close");
    expect(connection.closed).toBe(true);
  });

  it("is not a file of another kind, which is never removed", async () => {
    const file = path();
    writeFileSync(file, "kept");
    await expect(serve([hello], { socket: file, signals: false })).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(lstatSync(file).size).toBe(4);
  });

  it.each([
    ["in no folder", join(folder, "none", "x.sock"), /EACCES|ENOENT/],
    [
      "too long for one",
      join(folder, "x".repeat(200)),
      /^serve: socket cannot be \d+ bytes long: a Unix path has at most 103$/,
    ],
    ["empty", "", /^serve: socket cannot be empty: it must be a path$/],
  ])("%s is an error", async (_what, socket, message) => {
    await expect(serve([hello], { socket, signals: false })).rejects.toThrow(message);
  });
});

describe("a peer on a Unix socket", () => {
  const who = get(
    Path.of("who"),
    { inputs: { peer, client, requestId, request, setCookie }, returns: Returns.text },
    ({ peer, client, requestId, request, setCookie }) => {
      setCookie(Cookie.make(Cookie.named("k", Codec.int), 1));
      return `${peer} | ${client} | ${request.host} | ${requestId === "mine-1"}`;
    },
  );
  const forwarded = [
    "x-forwarded-for: 6.6.6.6, 1.2.3.4",
    "x-forwarded-host: Shop.example",
    "x-forwarded-proto: https",
    "x-request-id: mine-1",
  ];
  const loopback = ["host: localhost", "", ""];

  it("SV-22, CK-04 is a trusted proxy if the socket is trusted", async () => {
    const socket = path();
    await start([who], { socket, trustedProxies: Proxies.make([`unix:${socket}`]) });
    const client = await RawClient.to(socket);
    const answered = await client.send("GET /who HTTP/1.1", ...forwarded, ...loopback).answer();
    expect(answered.body).toBe(`unix:${socket} | 1.2.3.4 | shop.example | true`);
    expect(header(answered, "set-cookie")).toBe("k=1; Path=/; HttpOnly; Secure; SameSite=Lax");
  });

  it("SV-24 may be behind another trusted proxy", async () => {
    const socket = path();
    await start([who], { socket, trustedProxies: Proxies.make([`unix:${socket}`, "10.0.0.0/8"]) });
    const lines = ["x-forwarded-for: 6.6.6.6, 1.2.3.4, 10.0.0.7"];
    expect((await (await RawClient.to(socket)).ask("GET /who", lines).answer()).body).toBe(
      `unix:${socket} | 1.2.3.4 | h | false`,
    );
  });

  it("SV-27 may send one of the two kinds of forwarding headers", async () => {
    const socket = path();
    await start([who], { socket, trustedProxies: Proxies.make([`unix:${socket}`], { header: "forwarded" }) });
    const lines = [...forwarded, 'forwarded: for="[2001:db8::1]:4711";host=other.example'];
    expect((await (await RawClient.to(socket)).ask("GET /who", lines).answer()).body).toBe(
      `unix:${socket} | 2001:db8::1 | other.example | true`,
    );
  });

  it.each([
    ["nobody is", []],
    ["another one is", ["unix:/run/other.sock"]],
    ["every address is", ["0.0.0.0/1", "128.0.0.0/1", "::/1", "8000::/1"]],
  ])("SV-25 is only the peer when %s", async (_who, proxies) => {
    const socket = path();
    await start([who], { socket, trustedProxies: Proxies.make(proxies) });
    const client = await RawClient.to(socket);
    const answered = await client.send("GET /who HTTP/1.1", ...forwarded, ...loopback).answer();
    expect(answered.body).toBe(`unix:${socket} | unix:${socket} | localhost | false`);
    expect(header(answered, "set-cookie")).toBe("k=1; Path=/; HttpOnly; SameSite=Lax");
  });

  it("SV-22 is a trusted proxy also while the server stops", async () => {
    const socket = path();
    const asked = gate();
    const letGo = gate();
    const late = get(Path.of("late"), { inputs: { request }, returns: Returns.text }, async ({ request }) => {
      asked.open();
      await letGo.passed;
      return `${request.peer} ${request.client}`;
    });
    const server = await start([late], { socket, trustedProxies: Proxies.make([`unix:${socket}`]), drainMs: 600_000 });
    const client = await RawClient.to(socket);
    client.ask("GET /late", forwarded);
    await asked.passed;
    const stopped = server.stop();
    letGo.open();
    expect((await client.answer()).body).toBe(`unix:${socket} 1.2.3.4`);
    expect(await stopped).toBe(0);
  });
});
