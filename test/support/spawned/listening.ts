import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server as Listening } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { endsWithTest } from "../ends.ts";
import { RawClient } from "../raw-client.ts";
import type { SpawnOptions } from "./options.ts";
import { refusesAt, shared } from "./server.ts";
import type { Start } from "./server.ts";

const listening: Listening[] = [];
const folders: string[] = [];
endsWithTest(async () => {
  await Promise.all(listening.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A port that another program has on an address. */
async function takenAt(address: string): Promise<number> {
  const server = createServer();
  listening.push(server);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return (server.address() as AddressInfo).port;
}

/** A path for a socket. */
export function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "usher-"));
  folders.push(folder);
  return join(folder, "s");
}

async function askAt(path: string, line: string): Promise<string> {
  const socket = connect(path);
  socket.end(`${line} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n`);
  let text = "";
  for await (const part of socket) text += String(part);
  return text.slice(text.indexOf("\r\n\r\n") + 4);
}

/** Where every listener listens, and what keeps it from that. */
export function describeListening(start: Start): void {
  const startShared = shared(start);
  /** Starts a second server in a running program, and answers the error that `serve` threw. */
  const listens = async (options: SpawnOptions): Promise<string> =>
    (await startShared()).asks("POST /listen", JSON.stringify(options));
  const taken = /is taken: stop the program that has it/;

  describe("the host option", () => {
    it.each([
      ["localhost", "localhost", "127.0.0.1 and [::1]", ["127.0.0.1", "::1"]],
      ["127.0.0.1", "127.0.0.1", "127.0.0.1", ["127.0.0.1"]],
      ["::1", "[::1]", "[::1]", ["::1"]],
      ["::", "[::]", "every interface: [::], which takes IPv4 too", ["127.0.0.1", "::1"]],
      ["0.0.0.0", "0.0.0.0", "every interface: [::], which takes IPv4 too", ["127.0.0.1", "::1"]],
    ])("%s", async (host, named, bound, reached) => {
      const server = await start({ host });
      expect(server.url).toBe(`http://${named}:${server.port}`);
      await server.logs(`listening on ${server.url} (${bound})`);
      for (const address of ["127.0.0.1", "::1"]) {
        const asked = RawClient.to(server.port, address).then((client) => client.ask("GET /hello").answer());
        if (reached.includes(address)) expect((await asked).body).toBe("hi");
        else await expect(asked).rejects.toMatchObject({ code: "ECONNREFUSED" });
      }
    });
  });

  describe("App.serve rejects when", () => {
    const times = ["headTimeoutMs", "idleTimeoutMs", "bodyTimeoutMs", "sendTimeoutMs"];
    it("the port is in use, on either of two addresses", async () => {
      const port = await takenAt("127.0.0.1");
      await expect(start({ host: "127.0.0.1", port })).rejects.toThrow(taken);
      expect(await listens({ host: "localhost", port })).toMatch(taken);
    });

    it("the port is in use by a server of its own kind, in another process or in its own", async () => {
      const { port } = await startShared();
      await expect(start({ port })).rejects.toThrow(taken);
      expect(await listens({ host: "127.0.0.1", port })).toMatch(taken);
    });

    it("the second of two addresses is in use: the first is free again while the program continues", async () => {
      const port = await takenAt("::1");
      expect(await listens({ host: "localhost", port })).toMatch(taken);
      await refusesAt(port);
    });

    it("an option is out of its range", async () => {
      const isNone = "it must be a whole number";
      await expect(start({ port: 65_536 })).rejects.toThrow(`RangeError: serve: port cannot be 65536: ${isNone}`);
      expect(await listens({ drainMs: -1 })).toContain(`RangeError: serve: drainMs cannot be -1: ${isNone}`);
      expect(await listens({ socket: "" })).toContain("RangeError: serve: socket cannot be empty");
      for (const option of [...times, "maxHeaderBytes", "minBodyRate", "maxConnections"]) {
        expect(await listens({ [option]: 0 })).toContain(`RangeError: serve: ${option} cannot be 0: ${isNone}`);
      }
    });
  });

  describe("a Unix socket", () => {
    it("is listened on, and is removed with its server", async () => {
      const path = socketPath();
      const server = await start({ socket: path, trustedProxies: [`unix:${path}`] });
      expect([server.url, server.port]).toEqual([`unix:${path}`, 0]);
      expect(await askAt(path, "GET /peer")).toBe(`unix:${path} unix:${path}`);
      expect(JSON.parse(await askAt(path, "GET /no/where"))).toEqual({ method: "GET", target: "/no/where", host: "h" });
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(existsSync(path)).toBe(false);
    });

    it("of a killed server is replaced", async () => {
      const path = socketPath();
      await (await start({ socket: path })).kill();
      expect(existsSync(path)).toBe(true);
      await start({ socket: path });
      expect(await askAt(path, "GET /hello")).toBe("hi");
    });

    it("of a running server is checked by a program that continues: no connection to it is left", async () => {
      const path = socketPath();
      // Longer than any test runs: only the program ends its connections.
      await start({ socket: path, idleTimeoutMs: 255_000 });
      const server = await startShared();
      const before = server.descriptors;
      for (let i = 0; i < 20; i++) expect(await listens({ socket: path })).toMatch(taken);
      // At once: the other server closes what never asks.
      expect(server.descriptors).toBeLessThan(before + 15);
    });

    it("of a running server, and an invalid file, are left unchanged", async () => {
      const path = socketPath();
      await start({ socket: path });
      await expect(start({ socket: path })).rejects.toThrow(taken);
      expect(await askAt(path, "GET /hello")).toBe("hi");
      const file = socketPath();
      writeFileSync(file, "mine");
      expect(await listens({ socket: file })).toMatch(taken);
      expect(existsSync(file)).toBe(true);
    });
  });
}
