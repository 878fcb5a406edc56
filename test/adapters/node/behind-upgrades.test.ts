/**
 * Requests that are pipelined after an `Upgrade` that the server ignores (RFC 9110 §7.8, RFC 9112 §9.3.2). Node drops the bytes
 * that follow it in the same packet: the rest of the next request would be read as a request.
 */
import { describe, expect, it } from "vitest";
import type { ServeOptions } from "usher-http/node";
import { header } from "../../support/raw-client.ts";
import { shared } from "../../support/spawned/server.ts";
import { nodes, programOf } from "./nodes.ts";

interface Options extends ServeOptions {
  readonly app: "plain" | "opening";
}

const startShared = shared(programOf<Options>(new URL("out-of-turn-program.ts", import.meta.url)));
const request = (line: string, ...fields: readonly string[]): string =>
  [`${line} HTTP/1.1`, "host: h", ...fields, "", ""].join("\r\n");

type Offer = readonly [what: string, line: string, body: string, offer: readonly string[], content?: string];
const offers: readonly Offer[] = [
  [
    "HTTP/2",
    "GET /ok",
    "ok",
    ["connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__"],
  ],
  ["a WebSocket", "GET /ok", "ok", ["connection: upgrade", "upgrade: websocket"]],
  ["another protocol, by a POST without a body", "POST /ignores", "ignored", ["connection: upgrade", "upgrade: other"]],
];
/** A body that looks like requests. */
const upload = request("GET /ok").repeat(5000);
const behind = request("POST /size", `content-length: ${upload.length}`) + upload + request("GET /ok");

const withBody: Offer = [
  "HTTP/2, by a POST with a body",
  "POST /size",
  "5 bytes",
  ["connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__", "content-length: 5"],
  "hello",
];

const apps = ["plain", "opening"] as const;
const cases = nodes.flatMap((node) => apps.map((app) => [node, app] as const));

describe.each(cases)("after an Upgrade that the server ignores, on %s, in an app that is %s", (node, app) => {
  it("every request is answered once, in order", async () => {
    const server = await startShared(node, { app });
    for (const [what, line, body, offer, content = ""] of node === "node-oldest" ? [...offers, withBody] : offers) {
      const client = await server.client();
      client.send(request(line, ...offer) + content + behind);
      const bodies: string[] = [];
      for (let i = 0; i < 3; i++) bodies.push((await client.answer()).body);
      expect(bodies, what).toEqual([body, `${upload.length} bytes`, "ok"]);
      expect((await client.ask("GET /nowhere").answer()).status).toBe(404);
    }
  });
});

// These Nodes read the body of such a request, and then drop the bytes that follow it in the same packet.
const dropping = cases.filter(([node]) => node !== "node-oldest");

describe.each(dropping)("after an ignored Upgrade with a body, on %s, in an app that is %s", (node, app) => {
  it("no byte of it is read as a request, and the connection ends with its response", async () => {
    const server = await startShared(node, { app });
    const [what, line, body, offer, content = ""] = withBody;
    // As many bytes as a closing connection reads and drops.
    const behind = request("POST /size", "content-length: 100000") + request("GET /ok").repeat(1000);
    for (const packets of [[content + behind], [content, behind], [content.slice(0, 2), content.slice(2) + behind]]) {
      const client = await server.client();
      client.send(request(line, ...offer) + (packets[0] ?? ""));
      // By then the server has read that.
      for (const packet of packets.slice(1)) {
        expect((await (await server.client()).ask("GET /ok").answer()).body).toBe("ok");
        client.send(packet);
      }
      const answer = await client.answer();
      expect([answer.body, header(answer, "connection")], what).toEqual([body, "close"]);
      expect(await client.rest()).toBe("");
    }
  });
});

describe.each(dropping)(
  "after an ignored Upgrade with a body that waits for its turn, on %s, in an app that is %s",
  (node, app) => {
    it("no other one behind it is a request", async () => {
      const server = await startShared(node, { app });
      const [what, line, body, offer, content = ""] = withBody;
      const key = `behind-${node}-${app}`;
      const client = await server.client();
      client.send(request(`GET /held/${key}`) + request(line, ...offer) + content);
      await server.tells(`${key} held`);
      // It may be of a body: Node has dropped the head of the request in between.
      client.send(request("POST /ignores", ...offer) + content);
      expect((await (await server.client()).ask("GET /ok").answer()).body).toBe("ok");
      await (await server.client()).ask(`POST /open/${key}`).answer();
      expect((await client.answer()).body).toBe("held");
      const answer = await client.answer();
      expect([answer.body, header(answer, "connection")], what).toEqual([body, "close"]);
      expect(await client.rest()).toBe("");
    });
  },
);

// Node 20 stops reading at a body that is longer than its buffer, and does not continue after it has handed over the connection.
describe.each(nodes)("after an ignored Upgrade and an unread body, on %s: a changed protocol", (node) => {
  const upload = request("POST /ignores", "content-length: 20000") + "x".repeat(20_000);
  const offer = ["connection: upgrade", "upgrade: h2c"];

  it("is read as a WebSocket", async () => {
    const client = await (await startShared(node, { app: "opening" })).client();
    const key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";
    const opens = request("GET /socket", "connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13", key);
    client.send(request("GET /ok", ...offer) + upload + opens);
    for (const status of [200, 200, 101]) expect((await client.answer()).status).toBe(status);
    // A text message, masked with zeros.
    client.send("\x81\x82\0\0\0\0hi");
    expect(await client.frame()).toEqual({ first: 0x81, payload: "hi" });
  });

  it("is read by the handler of the takeover", async () => {
    const client = await (await startShared(node, { app: "opening" })).client();
    client.send(request("GET /ok", ...offer) + upload + request("GET /taken", "connection: upgrade", "upgrade: echo"));
    for (const status of [200, 200, 101]) expect((await client.answer()).status).toBe(status);
    client.send("hello");
    expect(await client.bytes(5)).toBe("hello");
  });
});
