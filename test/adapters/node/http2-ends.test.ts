/** Ends of a connection of HTTP/2 with frames behind them in the same packet: no such packet may end the process, on any Node. */
import { describe, expect, it } from "vitest";
import { moves } from "../../../adapters/node/http2/session.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { frame, http2Ask, http2Client, requestBlock } from "../../support/http2-client.ts";
import { WireClient, start as beginning } from "../../support/http2-wire.ts";
import { shared } from "../../support/spawned/server.ts";
import { rows } from "../../support/wide.ts";
import { endHeaders, whole } from "./http2-frame-cases.ts";
import { programOf } from "./nodes.ts";
import type { NodeName } from "./nodes.ts";

const start = programOf(new URL("http2-frames-program.ts", import.meta.url));
const startShared = shared(start);
const nodes = rows<NodeName>(["node-oldest", "node-22", "node-newest"], ["node-24"]);
const { cert, key } = makeCertificate({ name: "localhost", hosts: ["localhost"] });
/** The heap of Node 20 was found corrupted after 170 connections. */
const connections = 200;
/** What one of them shows over TLS, whose handshake takes longer, they all show without. */
const secureConnections = 30;
const atOnce = 10;

const get = (stream: number, path = "/ok"): Buffer => frame("headers", whole, stream, requestBlock(path));
const post = (stream: number): Buffer =>
  Buffer.concat([
    frame("headers", endHeaders, stream, requestBlock("/size", "POST")),
    frame("data", 1, stream, Buffer.from("four")),
  ]);
const goaway = (code: number): Buffer => frame("goaway", 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, code]));
const reset = (stream: number): Buffer => frame("reset", 0, stream, Buffer.from([0, 0, 0, 8]));
const dataOnIdleStream = frame("data", 0, 99, Buffer.from("x"));
const pings = Buffer.concat(Array.from({ length: 600 }, () => frame("ping", 0, 0, Buffer.alloc(8))));

const packets: readonly (readonly [what: string, frames: readonly Buffer[]])[] = [
  ["GOAWAY with an error, then a request with a body", [goaway(1), post(1)]],
  ["GOAWAY with an error between requests", [get(1), goaway(2), post(3), get(5)]],
  ["GOAWAY between requests", [get(1), goaway(0), get(3), post(5)]],
  ["GOAWAY before a request with a body", [goaway(0), post(1)]],
  ["requests behind one whose answer closes the connection", [get(1), get(3, "/closes"), post(5), get(7), get(9)]],
  [
    "requests behind one that closes, and resets",
    [get(1, "/closes"), get(3, "/ticks"), reset(3), post(5), get(7), reset(7)],
  ],
  ["too many PING frames between requests", [get(1, "/ticks"), pings, post(3), get(5)]],
  ["a frame against the protocol between requests", [get(1), dataOnIdleStream, post(3), get(5)]],
];

/** Sends the packet on many connections, and leaves each once the server has ended it or has answered. */
async function sends(
  connect: (first: Buffer) => Promise<WireClient>,
  frames: readonly Buffer[],
  times: number,
): Promise<void> {
  const first = Buffer.concat([beginning, ...frames]);
  for (let i = 0; i < times; i += atOnce) {
    const clients = await Promise.all(Array.from({ length: atOnce }, () => connect(first)));
    await eventually(() => {
      for (const client of clients) expect(client.closed || client.goaway !== undefined).toBe(true);
    });
    for (const { socket } of clients) socket.destroy();
  }
}

describe.each(nodes)("http2 on %s lives through", (node) => {
  it.each(packets)("%s", async (_what, frames) => {
    const server = await startShared(node, {});
    await sends((first) => WireClient.to(server.port, first), frames, connections);
    expect((await http2Ask(await http2Client(server.url), { ":path": "/ok" })).body).toBe("ok");
    expect(server.errors).toEqual([]);
  });

  it("each of them over TLS", async () => {
    const server = await start(node, { tls: { cert, key } });
    for (const [, frames] of packets)
      await sends((first) => WireClient.toSecure(server.port, first), frames, secureConnections);
    const session = await http2Client(server.url, { rejectUnauthorized: false });
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
    expect(server.errors).toEqual([]);
  });
});

describe("the moves of a session's end", () => {
  const events = ["drain", "quiet", "destroy", "turn", "closed"] as const;
  it.each([
    ["open", "draining", "open", "destroy due", "open", "closed"],
    ["draining", "draining", "close due", "destroy due", "draining", "closed"],
    ["close due", "close due", "close due", "destroy due", "closing", "closed"],
    ["closing", "closing", "closing", "destroy due", "closing", "closed"],
    ["destroy due", "destroy due", "destroy due", "destroy due", "destroyed", "closed"],
    ["destroyed", "destroyed", "destroyed", "destroyed", "destroyed", "closed"],
    ["closed", "closed", "closed", "closed", "closed", "closed"],
  ] as const)("from %s", (at, ...expected) => {
    expect(events.map((event) => moves[at][event] ?? at)).toEqual(expected);
  });
});
