import { describe, expect, it } from "vitest";
import { atSomeSpeed } from "../eventually.ts";
import { header } from "../raw-client.ts";
import { shared } from "./server.ts";
import type { Start } from "./server.ts";

/** How every listener reads a body. */
export function describeBodies(start: Start): void {
  const startShared = shared(start);
  describe("a body: read", () => {
    it("is read whole, in any number of chunks", async () => {
      const server = await startShared();
      for (const body of ["a", "x".repeat(16_384), "x".repeat(16_385), "x".repeat(1_000_000)]) {
        expect(await server.asks("POST /size", body)).toBe(`${body.length} bytes`);
      }
      const client = await server.client();
      client.send(
        "POST /size HTTP/1.1",
        "host: h",
        "transfer-encoding: chunked",
        "",
        "3",
        "abc",
        "1",
        "d",
        "0",
        "",
        "",
      );
      expect((await client.answer()).body).toBe("4 bytes");
      for (const head of [[], ["content-length: 0"]]) {
        client.send("POST /size HTTP/1.1", "host: h", ...head, "", "");
        expect((await client.answer()).body).toBe("0 bytes");
      }
    });

    it("is read as a stream while it arrives", async () => {
      const server = await startShared();
      const client = await server.client();
      client.send("POST /parts HTTP/1.1", "host: h", "content-length: 6", "", "abc");
      await server.tells("parts: 3");
      client.send("def");
      expect((await client.answer()).body).toBe("6 bytes");
    });

    it("fails as a stream that is read after the answer", async () => {
      const server = await start();
      const client = await server.client();
      client.send("POST /forgotten HTTP/1.1", "host: h", "content-length: 6", "", "abc");
      expect((await client.answer()).body).toBe("forgotten");
      await server.open();
      await server.tells("forgotten: unreadable");
      await server.logs(
        "/forgotten read its body, the input body, after its answer had gone, which failed: await each read before the handler returns",
      );
    });

    it("longer than the limit is a 413, with Content-Length or without", async () => {
      const server = await start({ maxBody: 10 });
      expect((await (await server.client()).ask("POST /size", [], "x".repeat(11)).answer()).status).toBe(413);
      const chunked = ["host: h", "transfer-encoding: chunked", "", "b", "x".repeat(11), "0", "", ""];
      expect((await (await server.client()).send("POST /size HTTP/1.1", ...chunked).answer()).status).toBe(413);
    });

    it("longer than any runtime's own limit is refused by the app", async () => {
      const client = await (await startShared()).client();
      client.send("POST /size HTTP/1.1", "host: h", `content-length: ${2 ** 40}`, "", "");
      expect((await client.answer()).status).toBe(413);
    });
  });

  describe("a body: refused", () => {
    // Bun shows none of a TRACE.
    it.each([
      ["whole", "3\r\nabc\r\n0\r\n\r\n"],
      ["that is no chunk", "zz\r\nabc\r\n"],
    ])("of a TRACE, %s, is no bug of the server", async (_what, body) => {
      const server = await startShared();
      const client = await server.client();
      client.send("TRACE /size HTTP/1.1", "host: h", "transfer-encoding: chunked", "", body);
      if (body.startsWith("3")) expect((await client.answer()).status).toBe(501);
      expect(await server.asks("GET /hello")).toBe("hi");
      expect(server.errors).toEqual([]);
    });

    it("that the handler does not read does not delay the answer", async () => {
      const server = await startShared();
      for (const path of ["/unread", "/first"]) {
        const client = await server.client();
        const answer = client.ask(`POST ${path}`, [], "x".repeat(2_000_000)).answer();
        expect((await answer).status).toBe(200);
        expect(await server.asks("GET /hello")).toBe("hi");
      }
    });

    const times = { bodyTimeoutMs: 100, minBodyRate: 1_000_000 };
    it.each([
      ["in one piece", "/size", "content-length: 10", "abc"],
      ["of many pieces", "/size", "content-length: 100000", "abc"],
      ["in chunks", "/size", "transfer-encoding: chunked", "3\r\nabc\r\n"],
      ["in parts", "/parts", "content-length: 10", "abc"],
    ])("that stops, %s, is a 400", async (_what, path, framing, sent) => {
      const server = await startShared(times);
      const client = await server.client();
      const answered = await client.send(`POST ${path} HTTP/1.1`, "host: h", framing, "", sent).answer();
      expect([answered.status, header(answered, "connection")]).toEqual([400, "close"]);
      await server.logs("the body stopped arriving");
      expect(await server.asks("GET /hello")).toBe("hi");
    });
  });

  describe("a body: of slow clients", () => {
    it("of one client leaves space for those of others, each time", async () => {
      const server = await start({ maxBody: 100_000, bodyBudget: 800_000, trustedProxies: ["127.0.0.1", "::1"] });
      const length = "content-length: 100000";
      const head = (who: number) => ["POST /size HTTP/1.1", "host: h", `x-forwarded-for: 192.0.2.${who}`, length, ""];
      for (let round = 0; round < 2; round++) {
        const flood = await Promise.all(Array.from({ length: 8 }, () => server.client()));
        for (const client of flood) client.send(...head(1), "x".repeat(99_999));
        // Which of them has room is whose bytes come first.
        let refused = 0;
        const answers = flood.map(async (client) => {
          const { status } = await client.answer();
          // Deno waits for the rest of a body before it closes.
          if (status === 503 && ++refused === 7) for (const other of flood) other.send("x");
          if (status === 503) await client.closed();
          return status;
        });
        for (const who of [2, 3]) {
          const other = await server.client();
          expect((await other.send(...head(who), "x".repeat(100_000)).answer()).status).toBe(200);
        }
        expect((await Promise.all(answers)).filter((status) => status === 200)).toEqual([200]);
      }
    });

    it.each([
      ["whole, and short", "/size", 5000],
      ["whole, and long", "/size", 500_000],
      ["in parts", "/parts", 500_000],
    ])("that was fast and then stops is a 400: %s", async (_what, path, length) => {
      const server = await startShared({ bodyTimeoutMs: 200, minBodyRate: 1 });
      const client = await server.client();
      client.send(`POST ${path} HTTP/1.1`, "host: h", `content-length: ${length}`, "", "x".repeat(length - 1));
      const answered = await client.answer();
      expect([answered.status, header(answered, "connection")]).toEqual([400, "close"]);
      expect(await server.asks("GET /hello")).toBe("hi");
    });

    it("that continues to arrive has the time that it needs", async () => {
      await atSomeSpeed(async (factor) => {
        const server = await start({ bodyTimeoutMs: 1000 * factor, minBodyRate: 1 });
        const client = await server.client();
        client.send("POST /parts HTTP/1.1", "host: h", "content-length: 6", "", "");
        const answer = client.answer();
        for (let sent = 1; sent <= 6; sent++) {
          client.send("x");
          // A request without a listed status is answered.
          await Promise.race([server.tells(`parts: ${sent}`), answer]);
          // Together longer than the time that a body with nothing in it has.
          await new Promise((resolve) => setTimeout(resolve, 250 * factor));
        }
        expect((await answer).body).toBe("6 bytes");
      });
    });

    it("that breaks off does not affect other requests", async () => {
      const server = await startShared();
      for (const framing of ["content-length: 10", "content-length: 100000", "transfer-encoding: chunked"]) {
        const client = await server.client();
        client.send("POST /size HTTP/1.1", "host: h", framing, "", "3\r\nabc\r\n");
        client.socket.end();
        await server.logs("the body ended early");
        expect(await server.asks("GET /hello")).toBe("hi");
      }
    });
  });
}
