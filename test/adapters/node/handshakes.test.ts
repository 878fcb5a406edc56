/**
 * The framework itself parses a WebSocket handshake: it opens what it accepts, whatever `ws` makes of the header lines,
 * and refuses a handshake before the handler runs. The access line has the status that the client received.
 */
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { Codec, Dep, Path, Returns, Socket, get } from "usher-http";
import { eventually } from "../../support/eventually.ts";
import { messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";

let ran = 0;
beforeEach(() => {
  ran = 0;
});

const frames = { client: Socket.text, server: Socket.text };
const echo = () => {
  ran++;
  return async (socket: Socket<string, string>) => {
    for await (const text of socket) await socket.send(text);
  };
};
const routes = [
  get(Path.of("any"), { returns: Returns.websocket(Socket.protocol(frames)) }, echo),
  get(Path.of("chat"), { returns: Returns.websocket(Socket.protocol({ ...frames, subprotocol: "chat" })) }, echo),
];

const upgrade = "upgrade: websocket";
const connection = "connection: upgrade";
const version = "sec-websocket-version: 13";
const key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";
const protocol = (value: string): string => `sec-websocket-protocol: ${value}`;
const all = [upgrade, connection, version, key];
const without = (line: string, ...others: readonly string[]): readonly string[] => [
  ...all.filter((one) => one !== line),
  ...others,
];

type Row = readonly [what: string, path: "any" | "chat", lines: readonly string[], status: number];
const rows: readonly Row[] = [
  ["the four lines", "any", all, 101],
  ["Upgrade on two lines", "any", without(upgrade, "upgrade: h2c", upgrade), 101],
  ["Upgrade twice", "any", [...all, upgrade], 101],
  ["another protocol listed before", "any", without(upgrade, "upgrade: h2c, websocket"), 101],
  ["nothing listed before", "any", without(upgrade, "upgrade: ,websocket"), 101],
  ["Upgrade in capitals", "any", without(upgrade, "UPGRADE: WEBSOCKET"), 101],
  ["no websocket", "any", without(upgrade, "upgrade: websockets"), 426],
  ["websocket with a version", "any", without(upgrade, "upgrade: websocket/13"), 426],
  ["Connection on two lines", "any", without(connection, "connection: keep-alive", connection), 101],
  ["an empty subprotocol that nobody asked for", "any", [...all, protocol("")], 101],
  ["what is no subprotocol that nobody asked for", "any", [...all, protocol('a b, "c", a,,a')], 101],
  ["an extension that is none", "any", [...all, "sec-websocket-extensions: ;;"], 101],
  ["a subprotocol twice", "chat", [...all, protocol("chat, chat")], 101],
  ["nothing between subprotocols", "chat", [...all, protocol("chat,,x")], 101],
  ["a subprotocol on two lines", "chat", [...all, protocol("x"), protocol("chat")], 101],
  ["a subprotocol beside what is none", "chat", [...all, protocol("a b, chat")], 101],
  ["a subprotocol in capitals", "chat", [...all, protocol("CHAT")], 400],
  ["an empty subprotocol", "chat", [...all, protocol("")], 400],
  ["no subprotocol", "chat", all, 400],
  ["another version", "any", without(version, "sec-websocket-version: 8"), 426],
  ["a version that is as much", "any", without(version, "sec-websocket-version: 13.0"), 426],
  ["a version in hexadecimal", "any", without(version, "sec-websocket-version: 0xd"), 426],
  ["two versions", "any", [...all, "sec-websocket-version: 13"], 426],
  ["no version", "any", without(version), 426],
  ["two keys", "any", [...all, key], 400],
  ["no key", "any", without(key), 400],
  ["a key of 15 bytes", "any", without(key, "sec-websocket-key: dGhlIHNhbXBsZSBub25j"), 400],
  ["a key with bits that say nothing", "any", without(key, "sec-websocket-key: dGhlIHNhbXBsZSBub25jZR=="), 400],
];

async function asks(client: RawClient, path: string, lines: readonly string[]): Promise<number> {
  const answered = await client.ask(`GET /${path}`, lines).answer();
  const opens = answered.status === 101;
  expect(ran).toBe(opens ? 1 : 0);
  expect(messages("info").filter((line) => String(line).startsWith("GET "))).toEqual([
    `GET /${path} ${answered.status}`,
  ]);
  expect(header(answered, "sec-websocket-protocol")).toBe(opens && path === "chat" ? "chat" : undefined);
  if (!opens) {
    expect(header(answered, "content-type")).toBe("application/json");
    return answered.status;
  }
  expect(header(answered, "sec-websocket-accept")).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  expect(await client.send("\u0081\u0082\0\0\0\0hi").frame()).toEqual({ first: 0x81, payload: "hi" });
  return 101;
}

describe("a handshake", () => {
  it("whose Upgrade Node's parser does not see leaves nothing of its request", async () => {
    const told: string[] = [];
    const held = Dep.scoped(
      {},
      () => 1,
      (_, { how }) => void told.push(how),
    );
    const route = get(Path.of("held"), { inputs: { held }, returns: Returns.websocket(Socket.protocol(frames)) }, echo);
    const client = await RawClient.to((await start([route])).port);
    client.ask("GET /held", without(connection, "connection: upgrade\t"));
    await client.closed();
    await eventually(() => expect(told).toHaveLength(1));
  });

  it.each(rows)("with %s, at /%s", async (_what, path, lines, status) => {
    const client = await RawClient.to((await start(routes)).port);
    expect(await asks(client, path, lines)).toBe(status);
  });

  it("is matched to its route once", async () => {
    let found = 0;
    const codec = Codec.custom({ kind: "room", parse: (text) => (found++, { ok: true, value: text }), print: String });
    // A parameter that passes on to the next route is parsed while a route is matched.
    const room = Path.param("room", codec, { unparsed: "next-route" });
    const rooms = get(Path.of("rooms", room), { returns: Returns.websocket(Socket.protocol(frames)) }, echo);
    const plain = get(Path.of("plain", room), { returns: Returns.text }, () => "plain");
    const client = await RawClient.to((await start([rooms, plain])).port);
    await client.ask("GET /plain/tea").answer();
    const once = found;
    expect(once).toBeGreaterThan(0);
    expect((await client.ask("GET /rooms/tea", all).answer()).status).toBe(101);
    expect(found - once).toBe(once);
  });

  it("of any header lines is answered as the framework parses it", async () => {
    const line = (name: string, ...values: readonly string[]) => {
      return fc
        .array(fc.constantFrom(...values), { maxLength: 2 })
        .map((given) => given.map((one) => `${name}: ${one}`));
    };
    const any = fc
      .tuple(
        line("upgrade", "websocket", "WebSocket", "h2c", "h2c, websocket", "", ",websocket,"),
        line("connection", "upgrade", "keep-alive, Upgrade", "keep-alive", "", "upgrade,", "x upgrade"),
        line("sec-websocket-version", "13", "8", ""),
        line("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==", "x", ""),
        line("sec-websocket-protocol", "chat", "x", "", ",", "x,chat", "chat chat"),
      )
      .map((lines) => lines.flat());
    const { port } = await start(routes);
    const property = fc.asyncProperty(fc.constantFrom("any", "chat"), any, async (path, lines) => {
      ran = 0;
      const client = await RawClient.to(port);
      const answered = await client.ask(`GET /${path}`, lines).answer();
      expect(ran).toBe(answered.status === 101 ? 1 : 0);
      expect(messages("info").findLast((line) => String(line).startsWith("GET "))).toBe(
        `GET /${path} ${answered.status}`,
      );
      if (answered.status !== 101) expect(header(answered, "content-type")).toBe("application/json");
      client.leave();
    });
    await fc.assert(property, { numRuns: 500 });
  });
});
