/**
 * What is pipelined behind an offer of another protocol that nobody takes (RFC 9110 §7.8, RFC 9112 §9.3.2). Node drops the
 * bytes that it has read behind such a request: what is left of the next one would be read as a request.
 */
import { describe, expect, it } from "vitest";
import type { ServeOptions } from "usher-http/node";
import { header } from "../../support/raw-client.ts";
import { nodes, programOf } from "./nodes.ts";

interface Options extends ServeOptions {
  readonly app: "plain" | "opening";
}

const start = programOf<Options>(new URL("out-of-turn-program.ts", import.meta.url));
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
/** Its content looks like requests. */
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

describe.each(cases)("behind an upgrade that is not taken, on %s, in an app that is %s", (node, app) => {
  it("every request is answered once, in order", async () => {
    const server = await start(node, { app });
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

// They read the body of such a request, and then drop the bytes behind it that they have read.
const dropping = cases.filter(([node]) => node !== "node-oldest");

describe.each(dropping)("behind an upgrade with a body that is not taken, on %s, in an app that is %s", (node, app) => {
  it("no byte is read as a request: the connection ends with its response", async () => {
    const server = await start(node, { app });
    const [what, line, body, offer, content = ""] = withBody;
    // As much as a closing connection reads and drops.
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
