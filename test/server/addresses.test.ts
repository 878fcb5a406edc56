/** The addresses of a host: one listener for each, on one port, and none stays open when another one fails. */
import { once } from "node:events";
import fs, { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { limitsOf } from "../../src/server/options.ts";
import { listenAt, unixSocketsBy } from "../../src/server/listen.ts";

const failure = (code: string): Error => Object.assign(new Error(code), { code });

interface Listening {
  readonly port: number;
  close(): void;
}

const sockets = { socketAt: () => undefined, isDead: () => Promise.resolve(false), remove: () => {} };

/** Listens as a runtime does that throws, or as one that rejects. */
function listensAt(host: string, listen: (host: string, port: number) => Listening, isLate = false) {
  return listenAt<Listening>(
    { ...limitsOf({ port: 0 }), host },
    {
      listenOn: isLate ? async (host, port) => listen(host, port) : listen,
      listenAtPath: () => expect.unreachable(),
      portOf: ({ port }) => port,
      close: (listening) => listening.close(),
      sockets,
    },
  );
}

/** A machine where `listen` fails for some hosts. */
function machine(failing: { readonly [host: string]: string }) {
  const open = new Set<string>();
  const listen = (host: string, port: number) => {
    const code = failing[host];
    if (code !== undefined) throw failure(code);
    open.add(host);
    return { port: port === 0 ? 4000 : port, close: () => void open.delete(host) };
  };
  return { open, listen };
}

describe("the addresses of a host", () => {
  it.each<[host: string, failing: { readonly [host: string]: string }, bound: string, open: readonly string[]]>([
    ["localhost", {}, "127.0.0.1 and [::1]", ["127.0.0.1", "::1"]],
    ["localhost", { "::1": "EADDRNOTAVAIL" }, "127.0.0.1", ["127.0.0.1"]],
    ["localhost", { "::1": "EAFNOSUPPORT" }, "127.0.0.1", ["127.0.0.1"]],
    ["0.0.0.0", {}, "every interface: [::], which takes IPv4 too", ["::"]],
    ["::", { "::": "EAFNOSUPPORT" }, "every interface: 0.0.0.0, with no IPv6 here", ["0.0.0.0"]],
    ["::1", {}, "[::1]", ["::1"]],
    ["10.0.0.1", {}, "10.0.0.1", ["10.0.0.1"]],
  ])("%s where %j fails", async (host, failing, bound, expected) => {
    for (const isLate of [false, true]) {
      const { open, listen } = machine(failing);
      const { port, url, bound: said, servers } = await listensAt(host, listen, isLate);
      expect([port, said, [...open], servers.length]).toEqual([4000, bound, expected, expected.length]);
      expect(url).toBe(`http://${host.includes(":") ? `[${host}]` : host}:4000`);
    }
  });

  it("localhost has a port that is free at both addresses, when the system chooses it", async () => {
    const open: string[] = [];
    let picked = 4000;
    const listen = (host: string, port: number) => {
      if (host === "::1" && port < 4003) throw failure("EADDRINUSE");
      const at = `${host} ${port === 0 ? ++picked : port}`;
      open.push(at);
      return { port: port === 0 ? picked : port, close: () => void open.splice(open.indexOf(at), 1) };
    };
    expect((await listensAt("localhost", listen)).port).toBe(4003);
    expect(open).toEqual(["127.0.0.1 4003", "::1 4003"]);
  });

  it.each([
    ["localhost", { "::1": "EADDRINUSE" }, "EADDRINUSE"],
    ["localhost", { "127.0.0.1": "EACCES" }, "EACCES"],
    ["0.0.0.0", { "::": "EADDRINUSE" }, "EADDRINUSE"],
    ["::", { "::": "EAFNOSUPPORT", "0.0.0.0": "EADDRINUSE" }, "EADDRINUSE"],
  ])("%s where %j fails throws, and leaves nothing open", async (host, failing, code) => {
    for (const isLate of [false, true]) {
      const { open, listen } = machine(failing);
      await expect(listensAt(host, listen, isLate)).rejects.toThrow(code);
      expect([...open]).toEqual([]);
    }
  });
});

describe("the path of a socket", () => {
  it.each([
    ["of a dead server is removed", { isDead: true, at: ["1", "1"] }, "removed"],
    ["of a living server stays", { isDead: false, at: ["1", "1"] }, "EADDRINUSE"],
    ["of another file stays", { isDead: true, at: [undefined, undefined] }, "EADDRINUSE"],
    ["that another server takes meanwhile stays", { isDead: true, at: ["1", "2"] }, "EADDRINUSE"],
  ])("%s", async (_how, { isDead, at }, expected) => {
    let isThere = true;
    const left = [...at];
    const listening = listenAt<Listening>(
      { ...limitsOf({ port: 0 }), socket: "/x" },
      {
        listenOn: () => expect.unreachable(),
        listenAtPath: () => {
          if (isThere) throw failure("EADDRINUSE");
          return { port: 0, close: () => {} };
        },
        portOf: () => 0,
        close: () => {},
        sockets: {
          socketAt: () => left.shift(),
          isDead: () => Promise.resolve(isDead),
          remove: () => void (isThere = false),
        },
      },
    );
    const got = await listening.then(
      ({ url, bound }) => `${url} ${bound}`,
      (error: Error) => error.message,
    );
    expect(got).toBe(expected === "removed" ? "unix:/x /x" : expected);
    expect(isThere).toBe(expected !== "removed");
  });
});

describe("a socket in the file system", () => {
  it("at which a server listens is not dead, and the connection that found it ends", async () => {
    const folder = mkdtempSync(join(tmpdir(), "usher-probed-"));
    const path = join(folder, "a.sock");
    const server = createServer((connection) => ended.push(once(connection.resume(), "close")));
    const ended: Promise<unknown>[] = [];
    onTestFinished(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });
    await once(server.listen(path), "listening");
    const connected = once(server, "connection");
    expect(await unixSocketsBy(fs, connect).isDead(path)).toBe(false);
    await connected;
    await Promise.all(ended);
    expect(ended).toHaveLength(1);
  });
});
