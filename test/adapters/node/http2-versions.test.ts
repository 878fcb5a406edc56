/** HTTP/2 is off by default on the versions of Node whose process a client may be able to end by it. */
import { once } from "node:events";
import { connect } from "node:tls";
import { describe, expect, it } from "vitest";
import type { ServeOptions } from "usher-http/node";
import { isSafeForHttp2 } from "../../../adapters/node/listen.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { http2Ask, http2Client } from "../../support/http2-client.ts";
import { secureAsk } from "../../support/secure-client.ts";
import { programOf } from "./nodes.ts";
import type { NodeName } from "./nodes.ts";

const start = programOf(new URL("http2-frames-program.ts", import.meta.url));
const { cert, key } = makeCertificate({ name: "localhost", hosts: ["localhost", "127.0.0.1"] });

/** What the server chooses for a client that supports both. */
async function chosen(port: number): Promise<string | false | null> {
  const socket = connect({ port, host: "127.0.0.1", ca: cert, ALPNProtocols: ["h2", "http/1.1"] });
  await once(socket, "secureConnect");
  socket.destroy();
  return socket.alpnProtocol;
}

describe("http2 by default", () => {
  it.each([
    [20, 20, false],
    [22, 3, false],
    [22, 22, false],
    [22, 23, true],
    [23, 11, false],
    [24, 20, false],
    [24, 21, true],
    [25, 9, false],
    [26, 9, false],
    [26, 10, true],
    [27, 0, true],
  ])("on Node %i.%i: %s", (major, minor, expected) => {
    expect(isSafeForHttp2(major, minor)).toBe(expected);
  });
});

describe("http2 over TLS", () => {
  // The frames program sets the option itself: null leaves it out.
  const unset = { http2: null } as unknown as ServeOptions;
  it.each<[NodeName, ServeOptions, protocol: string, lines: number]>([
    ["node-oldest", unset, "http/1.1", 1],
    ["node-oldest", { http2: true }, "h2", 0],
    ["node-oldest", { http2: false }, "http/1.1", 0],
    ["node-22", unset, "h2", 0],
    ["node-24", unset, "h2", 0],
    ["node-newest", unset, "h2", 0],
    ["node-newest", { http2: false }, "http/1.1", 0],
  ])("on %s with %o: %s, and %i lines that it is off", async (node, options, protocol, lines) => {
    const server = await start(node, { ...options, tls: { cert, key } });
    expect(await chosen(server.port)).toBe(protocol);
    expect((await secureAsk(server.port, "/ok", { ca: cert })).status).toBe(200);
    if (protocol === "h2") {
      const session = await http2Client(`https://127.0.0.1:${server.port}`, { ca: cert });
      expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
    }
    expect(server.logged.filter((line) => line.startsWith("HTTP/2 is off: "))).toHaveLength(lines);
  });

  it("without TLS it is off without a line, on any version", async () => {
    const server = await start("node-oldest", unset);
    expect(server.logged.filter((line) => line.includes("HTTP/2"))).toEqual([]);
  });
});
