/** Promises of the framework that a handler does not await: their rejection ends no process. */
import { describe, expect, it } from "vitest";
import { shared } from "./server.ts";
import type { Start } from "./server.ts";

const handshake = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

export function describeUnawaited(start: Start): void {
  const startShared = shared(start);

  describe("without await", () => {
    it("a read of a body that fails is one warn line, and ends no process", async () => {
      const server = await startShared();
      const client = await server.client();
      client.send("POST /unawaited HTTP/1.1", "host: h", "content-length: 6", "", "");
      expect((await client.answer()).body).toBe("unawaited");
      await server.logs("/unawaited read its body, the input body, after its answer had gone, which failed");
      await server.open();
      for (let i = 0; i < 3; i++) expect(await server.asks("GET /hello")).toBe("hi");
      expect(server.logged.filter((line) => line.includes("/unawaited read its body"))).toHaveLength(1);
    });

    it("a message that cannot be written is a warn line, and ends no process", async () => {
      const server = await startShared();
      const client = await server.client();
      expect((await client.ask("GET /unawaited-send", handshake).answer()).status).toBe(101);
      expect((await client.frame()).payload).toBe("5");
      await server.logs("/unawaited-send was given a message that its shape cannot write");
      client.leave();
      for (let i = 0; i < 3; i++) expect(await server.asks("GET /hello")).toBe("hi");
    });
  });
}
