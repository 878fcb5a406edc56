import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server as Listening } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ServeOptions } from "../../../src/server/options.ts";
import { endsWithTest } from "../ends.ts";
import { RawClient } from "../raw-client.ts";
import { refusesAt } from "./server.ts";
import type { Start } from "./server.ts";

const taken: Listening[] = [];
const folders: string[] = [];
endsWithTest(async () => {
  await Promise.all(taken.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A port that another program has on an address. */
async function takenAt(address: string): Promise<number> {
  const server = createServer();
  taken.push(server);
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
  describe("a host", () => {
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

  describe("nothing listens where", () => {
    const times = ["headTimeoutMs", "idleTimeoutMs", "bodyTimeoutMs", "sendTimeoutMs"];
    const refused = (options: ServeOptions, said: RegExp) => expect(start(options)).rejects.toThrow(said);

    it("the port is in use, on either of two addresses", async () => {
      for (const [inUse, hosts] of [
        ["127.0.0.1", ["127.0.0.1", "localhost"]],
        ["::1", ["localhost"]],
      ] as const) {
        const port = await takenAt(inUse);
        for (const host of hosts) await refused({ host, port }, /is taken: stop the program that has it/);
      }
    });

    it("the second of two addresses is in use: the first is free again while the program goes on", async () => {
      const server = await start();
      const port = await takenAt("::1");
      const answered = await server.asks("POST /listen", JSON.stringify({ host: "localhost", port }));
      expect(answered).toMatch(/is taken: stop the program that has it/);
      await refusesAt(port);
    });

    it("an option is out of its range", async () => {
      await refused({ port: 65_536 }, /RangeError: serve: port cannot be 65536: it must be a whole number/);
      await refused({ drainMs: -1 }, /RangeError: serve: drainMs cannot be -1: it must be a whole number/);
      await refused({ socket: "" }, /RangeError: serve: socket cannot be empty/);
      for (const option of [...times, "maxHeaderBytes", "minBodyRate", "maxConnections"]) {
        await refused(
          { [option]: 0 },
          new RegExp(`RangeError: serve: ${option} cannot be 0: it must be a whole number`),
        );
      }
    });
  });

  describe("a Unix socket", () => {
    it("is where it listens, and is gone with the server", async () => {
      const path = socketPath();
      const server = await start({ socket: path, trustedProxies: [`unix:${path}`] });
      expect([server.url, server.port]).toEqual([`unix:${path}`, 0]);
      expect(await askAt(path, "GET /peer")).toBe(`unix:${path} unix:${path}`);
      expect(JSON.parse(await askAt(path, "GET /no/where"))).toEqual({ method: "GET", target: "/no/where", host: "h" });
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(existsSync(path)).toBe(false);
    });

    it("that a dead server left behind is taken over", async () => {
      const path = socketPath();
      await (await start({ socket: path })).kill();
      expect(existsSync(path)).toBe(true);
      await start({ socket: path });
      expect(await askAt(path, "GET /hello")).toBe("hi");
    });

    it("of a living server is asked for by a program that stays: no connection to it is left", async () => {
      const path = socketPath();
      // Longer than any test runs: only the program ends its connections.
      await start({ socket: path, idleTimeoutMs: 255_000 });
      const server = await start();
      const before = server.descriptors;
      for (let i = 0; i < 20; i++) {
        const answered = await server.asks("POST /listen", JSON.stringify({ socket: path }));
        expect(answered).toMatch(/is taken: stop the program that has it/);
      }
      // At once: the other server closes what never asks.
      expect(server.descriptors).toBeLessThan(before + 15);
    });

    it("of a living server, and a file that is none, are left as they are", async () => {
      const path = socketPath();
      await start({ socket: path });
      await expect(start({ socket: path })).rejects.toThrow(/is taken: stop the program that has it/);
      expect(await askAt(path, "GET /hello")).toBe("hi");
      const file = socketPath();
      writeFileSync(file, "mine");
      await expect(start({ socket: file })).rejects.toThrow(/is taken: stop the program that has it/);
      expect(existsSync(file)).toBe(true);
    });
  });
}
