import { describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import type { SpawnedServer, Start } from "./server.ts";

const opening = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

/** A listener refuses requests past the bounds of its app, and takes them again. */
export function describeOverload(start: Start): void {
  const statusOf = async (server: SpawnedServer, line: string): Promise<number> =>
    (await (await server.client()).ask(line, ["connection: close"]).answer()).status;

  describe("an app with maxInFlight and maxEventLoopDelayMs", () => {
    it("refuses requests above maxInFlight with one log line, and serves when a place is free", async () => {
      const server = await start({ overload: { maxInFlight: 1 } });
      const held = (await server.client()).ask("GET /held");
      await server.tells("held: asked");
      const client = await server.client();
      const { status, head, body } = await client.ask("GET /hello").answer();
      expect([status, JSON.parse(body)]).toEqual([503, expect.objectContaining({ error: "busy" })]);
      expect(head.map(([name, value]) => [name.toLowerCase(), value])).toContainEqual(["retry-after", "1"]);
      expect((await client.ask("GET /livez").answer()).body).toBe("ok");
      expect((await client.ask("GET /socket", opening).answer()).status).toBe(503);
      const posting = await server.client();
      expect((await posting.ask("POST /size", [], "x".repeat(1000)).answer()).status).toBe(503);
      await server.open();
      expect((await held.answer()).body).toBe("held");
      expect(await server.asks("GET /hello")).toBe("hi");
      await server.logs("GET /hello 200");
      const refused = server.logged.filter((line) => /\b503\b/.test(line));
      expect(refused).toEqual(["requests refused with 503 busy past maxInFlight (1): 1"]);
    });

    it("holds no place while a body arrives, for a stream, or for a WebSocket", async () => {
      const server = await start({ overload: { maxInFlight: 1 } });
      const slow = await server.client();
      slow.socket.write("POST /size HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\nab");
      const stream = (await server.client()).ask("GET /quiet");
      await stream.sees("before ");
      const socket = await server.client();
      expect((await socket.ask("GET /socket", opening).answer()).status).toBe(101);
      expect(await server.asks("GET /later")).toBe("hi, later");
      slow.socket.write("cd");
      expect((await slow.answer()).body).toBe("4 bytes");
    });

    it("holds no place while handlers wait for the parts of their bodies", async () => {
      const server = await start({ overload: { maxInFlight: 1 } });
      const uploads = [await server.client(), await server.client(), await server.client()];
      for (const [index, client] of uploads.entries()) {
        const part = "x".repeat(index + 1);
        client.send("POST /parts HTTP/1.1", "host: h", "content-length: 6", "", part);
        await server.tells(`parts: ${part.length}`);
      }
      expect(await server.asks("GET /hello")).toBe("hi");
      const held = (await server.client()).ask("GET /held");
      await server.tells("held: asked");
      for (const [index, client] of uploads.entries()) client.socket.write("y".repeat(5 - index));
      await server.open();
      expect((await held.answer()).body).toBe("held");
      for (const client of uploads) expect((await client.answer()).body).toBe("6 bytes");
      expect(await server.asks("GET /hello")).toBe("hi");
    });

    it("refuses requests while its event loop is late, and serves after that", async () => {
      const server = await start({ overload: { maxEventLoopDelayMs: 20 } });
      const blocking = (await server.client()).ask("GET /blocking");
      await eventually(async () => expect(await statusOf(server, "GET /hello")).toBe(503));
      expect(await statusOf(server, "GET /livez")).toBe(200);
      await server.open();
      expect((await blocking.answer()).body).toBe("blocked");
      await eventually(async () => expect(await statusOf(server, "GET /hello")).toBe(200));
      await server.logs("requests refused with 503 busy past maxEventLoopDelayMs (20): 1");
    });
  });
}
