/**
 * A `CONNECT` or an `Upgrade` that arrives before the earlier requests on its connection are answered. Node hands the
 * connection over at once, during earlier answers: the request waits for its turn, and no exception ends the process.
 */
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { header, turns } from "../../support/raw-client.ts";
import { internal, notFound, notImplemented } from "../../support/refusals.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { shared } from "../../support/spawned/server.ts";
import type { SpawnedServer } from "../../support/spawned/server.ts";
import { nodes, programOf } from "./nodes.ts";
import type { ServeOptions } from "usher-http/node";

interface Options extends ServeOptions {
  readonly app: "plain" | "opening";
}
type App = Options["app"];

const start = programOf<Options>(new URL("out-of-turn-program.ts", import.meta.url));
// Each test has keys of its own: a gate stays open after its test.
const startShared = shared(start);
const request = (line: string, ...fields: readonly string[]): string =>
  [`${line} HTTP/1.1`, "host: h", ...fields, "", ""].join("\r\n");

/** The earlier requests: their bytes, what releases their answers, and the bodies of the answers. */
interface Ahead {
  readonly bytes: (key: string) => string;
  readonly opens?: true;
  readonly bodies: readonly string[];
  /** The client reads nothing until the later request has reached the server. */
  readonly unread?: true;
  readonly of?: "opening";
}

const large = "x".repeat(96 * 65_536);
const ahead: { readonly [what: string]: Ahead } = {
  nothing: { bytes: () => "", bodies: [] },
  "an answer at once": { bytes: () => request("GET /ok"), bodies: ["ok"] },
  "an answer that waits": { bytes: (key) => request(`GET /held/${key}`), opens: true, bodies: ["held"] },
  "several answers": {
    bytes: (key) => request("GET /ok") + request(`GET /held/${key}`) + request("GET /ok") + request(`GET /held/${key}`),
    opens: true,
    bodies: ["ok", "held", "ok", "held"],
  },
  "a body that is read": {
    bytes: () => `${request("POST /size", "content-length: 5")}hello`,
    bodies: ["5 bytes"],
  },
  "a body that nobody reads": {
    bytes: () => request("POST /ignores", "content-length: 20000") + "x".repeat(20_000),
    bodies: ["ignored"],
  },
  "chunks that nobody reads, behind an answer that waits": {
    bytes: (key) => {
      const chunked = request("POST /ignores", "transfer-encoding: chunked");
      return `${request(`GET /held/${key}`)}${chunked}5\r\nhello\r\n0\r\n\r\n`;
    },
    opens: true,
    bodies: ["held", "ignored"],
  },
  "a stream of events": {
    bytes: (key) => request(`GET /events/${key}`),
    opens: true,
    bodies: ["event: said\ndata: before\n\nevent: said\ndata: after\n\n"],
  },
  "a stream": { bytes: (key) => request(`GET /stream/${key}`), opens: true, bodies: ["before after"], of: "opening" },
  "a stream that its client takes late": {
    bytes: () => request("GET /large"),
    bodies: [large],
    unread: true,
    of: "opening",
  },
  "a stream that its client takes late, behind an answer that waits": {
    bytes: (key) => request(`GET /held/${key}`) + request("GET /large"),
    opens: true,
    bodies: ["held", large],
    unread: true,
    of: "opening",
  },
};

const upgrades = (protocol: string): readonly string[] => ["connection: upgrade", `upgrade: ${protocol}`];
const handshake = [
  ...upgrades("websocket"),
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];
const noSocket = '{"error":"upgrade_required","message":"This address opens a WebSocket, and nothing else."}';

type Outcome = readonly [status: number, body: string] | "bare 400" | "socket" | "takeover" | "bare 101";

/** The later requests, and the expected result in each app. */
interface Behind {
  readonly bytes: string;
  readonly plain: Outcome;
  readonly opening: Outcome;
}
const same = (bytes: string, outcome: Outcome): Behind => ({ bytes, plain: outcome, opening: outcome });
const none: Outcome = [404, notFound];

const behind: { readonly [what: string]: Behind } = {
  CONNECT: same("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", [501, notImplemented]),
  "CONNECT of a path": same("CONNECT /x HTTP/1.1\r\nHost: a:80\r\n\r\n", "bare 400"),
  "CONNECT of no port": same("CONNECT [::1] HTTP/1.1\r\nHost: a:80\r\n\r\n", "bare 400"),
  "CONNECT without a Host": same("CONNECT a:80 HTTP/1.1\r\n\r\n", "bare 400"),
  "CONNECT with a body": same("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\ncontent-length: 5\r\n\r\nhello", [
    501,
    notImplemented,
  ]),
  "CONNECT with chunks": same("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel", [
    501,
    notImplemented,
  ]),
  "a handshake": { bytes: request("GET /socket", ...handshake), plain: none, opening: "socket" },
  "a handshake with a body": {
    bytes: `${request("GET /socket", ...handshake, "content-length: 3")}abc`,
    plain: none,
    opening: [426, noSocket],
  },
  "a handshake with half a body": {
    bytes: `${request("GET /socket", ...handshake, "content-length: 300000")}abc`,
    plain: none,
    opening: [426, noSocket],
  },
  "a handshake with chunks": {
    bytes: `${request("GET /socket", ...handshake, "transfer-encoding: chunked")}3\r\nabc\r\n0\r\n\r\n`,
    plain: none,
    opening: [426, noSocket],
  },
  "a handshake with half a chunk": {
    bytes: `${request("GET /socket", ...handshake, "transfer-encoding: chunked")}3\r\na`,
    plain: none,
    opening: [426, noSocket],
  },
  "a handshake with an empty body": {
    bytes: request("GET /socket", ...handshake, "content-length: 0"),
    plain: none,
    opening: "socket",
  },
  "a handshake of a POST": same(request("POST /ignores", ...handshake), [200, "ignored"]),
  "a handshake with two Hosts": same(request("GET /socket", "host: g", ...handshake), "bare 400"),
  "a handshake at no route": same(request("GET /nowhere", ...handshake), none),
  "a handshake of no version": {
    bytes: request("GET /socket", ...upgrades("websocket")),
    plain: none,
    opening: [426, '{"error":"upgrade_required","message":"This server speaks version 13 of WebSockets."}'],
  },
  "an upgrade to HTTP/2": same(request("GET /ok", ...upgrades("h2c")), [200, "ok"]),
  "an upgrade to HTTP/2 with a body": same(`${request("POST /size", ...upgrades("h2c"), "content-length: 5")}hello`, [
    200,
    "5 bytes",
  ]),
  "a takeover": { bytes: request("GET /taken", ...upgrades("echo")), plain: none, opening: "takeover" },
  "a takeover of another protocol": {
    bytes: request("GET /taken", ...upgrades("other")),
    plain: none,
    opening: [500, internal],
  },
  "a takeover of a HEAD": { bytes: request("HEAD /taken", ...upgrades("echo")), plain: [404, ""], opening: "bare 101" },
};

async function meets(client: RawClient, outcome: Outcome, toHead: boolean): Promise<void> {
  const answered = await client.answer({ toHead });
  const seen = [answered.status, answered.body];
  switch (outcome) {
    case "bare 400":
      expect(seen).toEqual([400, ""]);
      return expect(await client.rest()).toBe("");
    case "bare 101":
      expect(seen).toEqual([101, ""]);
      return expect(await client.rest()).toBe("");
    case "socket":
      expect(seen).toEqual([101, ""]);
      client.send("\u0081\u0085\0\0\0\0hello");
      return expect(await client.frame()).toEqual({ first: 0x81, payload: "hello" });
    case "takeover":
      expect(seen).toEqual([101, ""]);
      client.send("hello");
      return expect(await client.bytes(5)).toBe("hello");
    default:
      expect(seen).toEqual(outcome);
  }
  // The head has whether the connection stays open.
  if (header(answered, "connection") === "close") expect(await client.rest()).toBe("");
  else expect((await client.ask("GET /ok").answer()).body).toBe("ok");
}

async function isUnharmed(server: SpawnedServer): Promise<void> {
  expect(await server.asks("GET /ok")).toBe("ok");
  // The log has only the lines of every connection, and that of a takeover route without an upgrade.
  const usual = /^(?:GET|POST|HEAD|CONNECT|listening|refused|socket|stream|takeover|a takeover to "echo"),? /;
  expect(server.logged.filter((line) => !usual.test(line))).toEqual([]);
}

const cases = nodes.flatMap((node) => (["plain", "opening"] as const).map((app) => [node, app] as const));

/** The result if the client has half-closed: only HTTP can be spoken on the connection. */
const ended: { readonly [what: string]: readonly [status: number, body: string] } = {
  "CONNECT of a path": [400, ""],
  "CONNECT of no port": [400, ""],
  "CONNECT without a Host": [400, ""],
  "a handshake": [426, noSocket],
  "a handshake of no version": [426, noSocket],
  "a handshake with an empty body": [426, noSocket],
  "a handshake with two Hosts": [400, ""],
  "a takeover": [500, internal],
  "a takeover of a HEAD": [500, ""],
};

describe("a CONNECT or an Upgrade after other requests: its answer", () => {
  async function areAnsweredBehind(what: string, server: SpawnedServer, app: App): Promise<void> {
    const { bytes, opens, bodies, unread } = ahead[what] as Ahead;
    const keyOf = (i: number): string => `${Object.keys(ahead).indexOf(what)}-${i}`;
    const clients: (readonly [name: string, late: Behind, client: RawClient])[] = [];
    for (const [name, late] of Object.entries(behind)) {
      // The rest of it takes a second: once is enough.
      if (name === "a handshake with half a chunk" && what !== "an answer that waits") continue;
      const client = await server.client();
      if (unread) client.socket.pause();
      clients.push([name, late, client.send(bytes(keyOf(clients.length)) + late.bytes)]);
    }
    await turns(server.port);
    for (const [i, [name, late, client]] of clients.entries()) {
      if (opens) await server.asks(`POST /open/${keyOf(i)}`);
      if (unread) client.socket.resume();
      for (const body of bodies) expect((await client.answer()).body === body, `${what}, ${name}`).toBe(true);
      await meets(client, late[app], name.endsWith("HEAD"));
      client.leave();
    }
    await isUnharmed(server);
  }

  // One server for all earlier requests: starting one takes longer than all its requests.
  it.each(cases)("is answered in its turn: on %s, in the app %s", async (node, app) => {
    const server = await startShared(node, { app });
    for (const [what, { of = app }] of Object.entries(ahead)) {
      if (of === app) await areAnsweredBehind(what, server, app);
    }
  });

  const closing: readonly (readonly [what: string, bytes: string, status: number])[] = [
    ["an answer that closes", request("GET /ok", "connection: close"), 200],
    ["an answer that closes, later", request("GET /held/k", "connection: close"), 200],
    ["an answer to HTTP/1.0", "GET /ok HTTP/1.0\r\n\r\n", 200],
    ["a head that is none", request("GET /ok", "host: other"), 400],
    ["another version", "GET /ok HTTP/2.0\r\nhost: h\r\n\r\n", 505],
    ["a body past its limit", `${request("POST /size", "content-length: 200000")}${"x".repeat(20_000)}`, 413],
  ];
  it.each(nodes.flatMap((node) => closing.map((row) => [node, ...row] as const)))(
    "is not answered after an answer that ends the connection: on %s, %s",
    async (node, _what, bytes, status) => {
      const server = await startShared(node, { app: "opening", maxBody: 10_000 });
      for (const [i, late] of Object.values(behind).entries()) {
        const client = await server.client();
        client.send(bytes.replace("/k", `/${i}`) + late.bytes);
        await turns(server.port);
        await server.asks(`POST /open/${i}`);
        expect((await client.answer()).status).toBe(status);
        expect(await client.rest()).toBe("");
      }
      await isUnharmed(server);
    },
  );
});

describe("a CONNECT or an Upgrade after other requests: a client that has gone", () => {
  /** Node 20 hands over every upgrade, even if it is not wanted, and its body can no longer be read. */
  const isLost = (node: string, { bytes }: Behind): boolean =>
    node === "node-oldest" && !bytes.startsWith("CONNECT") && /(?:length: [1-9]|chunked)/.test(bytes);
  it.each(nodes)("is answered to a client that has half-closed: on %s", async (node) => {
    const server = await startShared(node, { app: "opening" });
    for (const [i, [name, late]] of Object.entries(behind).entries()) {
      const client = await server.client();
      client.send(request(`GET /held/ended-${i}`) + late.bytes).halfClose();
      await server.tells(`ended-${i} held`);
      await turns(server.port);
      await server.asks(`POST /open/ended-${i}`);
      expect((await client.answer()).body).toBe("held");
      if (!isLost(node, late)) {
        const { status, body } = await client.answer({ toHead: name.endsWith("HEAD") });
        expect([status, body], name).toEqual(ended[name] ?? late.opening);
      }
      expect(await client.rest(), name).toBe("");
    }
    await isUnharmed(server);
  });

  it.each(nodes)("aborts clientGone of an earlier handler: on %s", async (node) => {
    const server = await startShared(node, { app: "opening" });
    for (const [i, late] of Object.values(behind).entries()) {
      const client = await server.client();
      client.send(request(`GET /gone/ahead-${i}`) + late.bytes).halfClose();
      await server.tells(`ahead-${i} gone`);
      expect((await client.answer()).body).toBe("told");
    }
    await isUnharmed(server);
  });

  it.each(nodes)("ends an earlier stream for a client that has gone: on %s", async (node) => {
    const server = await startShared(node, { app: "opening" });
    const clients: RawClient[] = [];
    for (const [i, late] of Object.values(behind).entries()) {
      const client = await server.client();
      clients.push(client.send(request(`GET /stream/left-${i}`) + late.bytes).halfClose());
    }
    for (const client of clients) {
      await client.sees("before ");
      await client.closed();
    }
    await isUnharmed(server);
  });
});

describe("a CONNECT or an Upgrade after other requests: limits", () => {
  it.each(nodes)("a client that does not read the earlier answers is disconnected: on %s", async (node) => {
    const server = await start(node, { app: "opening", sendTimeoutMs: 300 });
    for (const late of Object.values(behind)) {
      const client = await server.client();
      client.socket.pause();
      client.send(request("GET /large") + late.bytes);
    }
    const left = "closed a connection whose client stopped reading for 0.3s";
    const count = Object.keys(behind).length;
    await eventually(() => expect(server.logged.filter((line) => line === left)).toHaveLength(count));
    expect(await server.asks("GET /ok")).toBe("ok");
  });

  it.each(nodes)("is dropped when its client disconnects before its turn: on %s", async (node) => {
    const server = await start(node, { app: "opening" });
    const open = server.descriptors;
    for (const [i, late] of Object.values(behind).entries()) {
      const client = await server.client();
      client.send(request(`GET /held/${i}`) + late.bytes);
      await server.tells(`${i} held`);
      client.leave();
      await server.asks(`POST /open/${i}`);
    }
    await isUnharmed(server);
    await eventually(() => expect(server.descriptors).toBeLessThanOrEqual(open));
  });

  it.each(nodes)("is not answered after the last answer of a server that stops: on %s", async (node) => {
    const server = await start(node, { app: "opening", drainMs: 600_000 });
    const clients: RawClient[] = [];
    for (const [i, late] of Object.values(behind).entries()) {
      const client = await server.client();
      clients.push(client.send(request(`GET /held/${i}`) + late.bytes));
      await server.tells(`${i} held`);
    }
    server.child.kill("SIGTERM");
    await server.logs("stopping");
    await server.open();
    for (const [i, name] of Object.keys(behind).entries()) {
      const client = clients[i] as RawClient;
      const held = await client.answer();
      expect(held.body).toBe("held");
      // Newer Nodes treat an Upgrade with a body as a request, which was in flight.
      const isLast = header(held, "connection") === "close";
      const last = isLast ? held : await client.answer({ toHead: name.endsWith("HEAD") });
      expect([name, header(last, "connection")]).toEqual([name, "close"]);
      expect(await client.rest()).toBe("");
    }
    expect(await server.ended).toBe(0);
  });

  it.each(nodes)("is held with at most 64 KiB of the bytes that follow it: on %s", async (node) => {
    const server = await startShared(node, { app: "opening" });
    const client = await server.client();
    client.send(request("GET /held/k") + request("GET /socket", ...handshake));
    await server.tells("k held");
    for (let i = 0; i < 512; i++) client.send("x".repeat(65_536));
    await turns(server.port);
    // What the system buffers and 64 KiB: the rest stays with the client.
    expect(client.socket.writableLength).toBeGreaterThan(0);
    await server.asks("POST /open/k");
    expect((await client.answer()).body).toBe("held");
    expect((await client.answer()).status).toBe(101);
    await client.closed();
    await isUnharmed(server);
  });
});
