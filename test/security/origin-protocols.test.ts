/** The cross-origin check over HTTP/2 and HTTP/1.1: a client gets the same answer over both, also to a WebSocket's handshake. */
import { describe, expect, it } from "vitest";
import { Path, Proxies, Returns, Socket, get, post } from "usher-http";
import { eventually } from "../support/eventually.ts";
import { frame, headerBlock } from "../support/http2-client.ts";
import { WireClient } from "../support/http2-wire.ts";
import { start } from "../support/node-server.ts";
import { RawClient } from "../support/raw-client.ts";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const routes = [
  post(Path.of("act"), { returns: Returns.text }, () => "done"),
  get(Path.of("socket"), { returns: Returns.websocket(texts) }, () => async () => {}),
];
type Fields = readonly (readonly [name: string, value: string])[];
const own = ["origin", "https://shop.example"] as const;
const evil = ["origin", "https://evil.example"] as const;
const site = (word: string) => ["sec-fetch-site", word] as const;

const rows: readonly (readonly [host: string, fields: Fields, status: number])[] = [
  ["shop.example", [], 200],
  ["shop.example", [own], 200],
  ["SHOP.example", [["origin", "HTTPS://Shop.example:443"]], 200],
  ["shop.example:443", [own], 200],
  ["shop.example:80", [own], 403],
  ["shop.example", [["origin", "https://shop.example:8443"]], 403],
  ["shop.example", [["origin", "http://shop.example"]], 200],
  ["shop.example", [["origin", "null"]], 403],
  ["shop.example", [["origin", ""]], 403],
  ["shop.example", [evil], 403],
  ["evil.example", [own], 403],
  ["shop.example", [own, evil], 403],
  ["shop.example", [own, own], 200],
  ["shop.example", [["origin", "https://trusted.example"]], 200],
  ["shop.example", [site("same-origin"), evil], 200],
  ["shop.example", [site("none")], 200],
  ["shop.example", [site("cross-site"), own], 403],
  ["shop.example", [site("same-site"), own], 403],
  ["shop.example", [site("same-origin"), site("cross-site"), own], 403],
  ["[::1]:8443", [["origin", "https://[::1]:8443"]], 200],
  ["a@b", [], 400],
  ["inner.example", [own, ["x-forwarded-host", "shop.example"]], 403],
];
const forwarded: typeof rows = [
  ["inner.example", [own, ["x-forwarded-host", "shop.example"]], 200],
  ["inner.example", [own, ["x-forwarded-host", "evil.example"]], 403],
  ["inner.example", [own, ["x-forwarded-host", "evil.example"], ["x-forwarded-host", "shop.example"]], 200],
  ["inner.example", [own, ["x-forwarded-host", "shop.example, inner.example"]], 403],
  ["inner.example", [own], 403],
];

const handshake: Fields = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
];

/** The status over HTTP/1.1. */
async function first(port: number, method: string, target: string, fields: Fields): Promise<number> {
  const client = await RawClient.to(port);
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  client.send(`${method} ${target} HTTP/1.1`, ...lines, "", "");
  return (await client.answer()).status;
}

/** The status over HTTP/2. */
async function second(port: number, fields: Fields): Promise<number | undefined> {
  const client = await WireClient.to(port);
  client.write(frame("headers", 4, 1, headerBlock(fields)));
  await eventually(() => expect(client.seen(1).statuses).toHaveLength(1));
  return client.seen(1).statuses[0];
}

describe.each([
  ["no proxy", rows, undefined],
  ["a trusted proxy", forwarded, Proxies.make(["127.0.0.1"])],
] as const)("behind %s", (_what, rows, trustedProxies) => {
  it.each(rows)("Host %s, %j: %d", async (host, fields, status) => {
    const { port } = await start(routes, {
      http2: true,
      trustedOrigins: ["https://trusted.example"],
      ...(trustedProxies === undefined ? {} : { trustedProxies }),
    });
    const pseudo = (scheme: string): Fields => [
      [":scheme", scheme],
      [":authority", host],
    ];
    const post: Fields = [["host", host], ["content-length", "0"], ...fields];
    const act: Fields = [[":method", "POST"], [":path", "/act"]]; // prettier-ignore
    const connect: Fields = [[":method", "CONNECT"], [":protocol", "websocket"], [":path", "/socket"]]; // prettier-ignore
    const version = ["sec-websocket-version", "13"] as const;
    const opened = await first(port, "GET", "/socket", [["host", host], ...handshake, ...fields]);
    expect({
      post1: await first(port, "POST", "/act", post),
      post2: await second(port, [...act, ...pseudo("http"), ...fields]),
      // A client may name any scheme.
      lied: await second(port, [...act, ...pseudo("https"), ...fields]),
      socket1: opened === 101 ? 200 : opened,
      socket2: await second(port, [...connect, ...pseudo("http"), version, ...fields]),
    }).toEqual({ post1: status, post2: status, lied: status, socket1: status, socket2: status });
  });
});
