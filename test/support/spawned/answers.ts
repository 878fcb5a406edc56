import { describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { header } from "../raw-client.ts";
import { shared } from "./server.ts";
import type { Start } from "./server.ts";

/** What every listener makes of an answer. */
export function describeAnswers(start: Start): void {
  const startShared = shared(start);
  describe("an answer", () => {
    it("has its status, its headers and its length, and the connection is kept", async () => {
      const client = await (await startShared()).client();
      for (const path of ["/hello", "/later", "/hello"]) {
        const answered = await client.ask(`GET ${path}`).answer();
        expect([answered.status, answered.body.slice(0, 2)]).toEqual([200, "hi"]);
        expect(header(answered, "content-type")).toBe("text/plain; charset=utf-8");
        expect(header(answered, "x-request-id")).toMatch(/^[a-z0-9]{12}$/);
        expect(header(answered, "content-length")).toBe(String(answered.body.length));
        expect(header(answered, "date")).toMatch(/ GMT$/);
      }
    });

    it("to HEAD has the length of the one to GET, and no body", async () => {
      const client = await (await startShared()).client();
      const answered = await client.ask("HEAD /hello").answer({ toHead: true });
      expect([answered.status, header(answered, "content-length")]).toEqual([200, "2"]);
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    });

    it("to HEAD has no length if the one to GET has none", async () => {
      const client = await (await startShared()).client();
      const answered = await client.ask("HEAD /quiet").answer({ toHead: true });
      expect([answered.status, header(answered, "content-length")]).toEqual([200, undefined]);
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    });

    it("for a bug is a 500 without details, and a log line with them", async () => {
      const server = await startShared();
      const client = await server.client();
      const answered = await client.ask("GET /throws").answer();
      expect(answered.status).toBe(500);
      expect(answered.body).not.toContain("secret");
      expect(await server.logs('"error.kind"')).not.toContain("secret");
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    });

    it("uses the target as it was sent", async () => {
      const client = await (await startShared()).client();
      for (const target of ["/nowhere", "/a%2Fb/c?d=e/f&g", "//a", "/a/b?", "/%zz"]) {
        expect(JSON.parse((await client.ask(`GET ${target}`).answer()).body)).toEqual({
          method: "GET",
          target,
          host: "h",
        });
      }
    });

    it("knows its peer", async () => {
      const server = await start({ host: "localhost" });
      for (const address of ["127.0.0.1", "::1"]) {
        expect((await (await server.client(address)).ask("GET /peer").answer()).body).toBe(`${address} ${address}`);
      }
      const everywhere = await start({ host: "::" });
      expect(await everywhere.asks("GET /peer")).toBe("127.0.0.1 127.0.0.1");
    });

    it("trusts the proxies of its option", async () => {
      const server = await start({ trustedProxies: ["127.0.0.0/8"] });
      const asked = (await server.client()).ask("GET /peer", ["x-forwarded-for: 192.0.2.7"]);
      expect((await asked.answer()).body).toBe("127.0.0.1 192.0.2.7");
    });

    it("to an invalid request head is not from the app", async () => {
      const server = await startShared();
      for (const head of ["GET /hello\u0001 HTTP/1.1", "GET /hello HTTP/1.1\r\nx: \u0001"]) {
        const { status } = await (await server.client()).send(head, "host: h", "", "").answer();
        expect(status === 400 || status === 505).toBe(true);
      }
      expect(await server.asks("GET /hello")).toBe("hi");
    });
  });

  describe("an invalid Host is a 400", () => {
    // Of no other request is there a line.
    const startLineless = shared(start);
    it.each([
      "a b",
      "h/evil?",
      "h/evil#",
      "h/",
      "u@h",
      "h\\y",
      "h?y",
      "h#y",
      "h?",
      "[::1",
      "[1::2::3]",
      "[1:2:3:4:5:6:7:8:9]",
    ])("%j", async (host) => {
      const server = await startLineless();
      for (const target of ["/where", "/no/where"]) {
        const client = await server.client();
        const answered = await client.send(`GET ${target} HTTP/1.1`, `host: ${host}`, "", "").answer();
        expect([answered.status, answered.body, header(answered, "connection")]).toEqual([400, "", "close"]);
      }
      await eventually(() => {
        expect(server.logged.filter((line) => line.startsWith("refused a request head: 400 "))).toHaveLength(2);
      });
      expect(server.logged.filter((line) => line.startsWith("GET "))).toEqual([]);
    });

    it.each(["h", "H.example:80", "[::1]:8080", "a_b", ""])("and %j is valid", async (host) => {
      const client = await (await startShared()).client();
      client.send("GET /no/where?a=/b HTTP/1.1", `host: ${host}`, "", "");
      const asked = { method: "GET", target: "/no/where?a=/b", host: host.toLowerCase() };
      expect(JSON.parse((await client.answer()).body)).toEqual(asked);
    });
  });

  it("the size limit of a head is that of each server", async () => {
    const server = await start({ maxHeaderBytes: 2000 });
    const ask = async (target: string, headers: readonly string[] = []) => {
      const answered = await (await server.client()).ask(`GET ${target}`, headers).answer();
      return [answered.status, answered.body, header(answered, "connection")];
    };
    expect(await ask("/hello", [`x: ${"x".repeat(1000)}`])).toEqual([200, "hi", undefined]);
    expect(await ask("/hello", [`x: ${"x".repeat(3000)}`])).toEqual([431, "", "close"]);
    expect(await ask(`/${"x".repeat(3000)}`)).toEqual([414, "", "close"]);
    await server.logs("refused a request head: 431");
    const other = await start({ maxHeaderBytes: 40_000 });
    const client = await other.client();
    expect((await client.ask("GET /hello", [`x: ${"x".repeat(30_000)}`]).answer()).status).toBe(200);
  });

  describe("text of a request is never copied into a header unchanged", () => {
    const inside = Array.from({ length: 256 }, (_, code) => code).filter((code) => code < 0x20 || code > 0x7e);
    const ways = ["added", "name", "answer", "type", "location", "cookie", "stream"];
    const setsValue = new Set(["added", "answer", "stream"]);
    it.each(ways)("through %s", async (way) => {
      const client = await (await startShared()).client();
      for (const code of inside) {
        // A tab is a blank like any other, but in a name. A location is percent-encoded.
        const isFine = (code === 9 && way !== "name") || (code > 0x7f && way === "location");
        const value = encodeURIComponent(`a${String.fromCodePoint(code)}b`);
        const { status, head } = await client.ask(`GET /in/${way}?value=${value}`).answer();
        expect([code, status]).toEqual([code, isFine ? expect.any(Number) : 500]);
        const names = head.map(([name]) => name.toLowerCase());
        expect([code, names.includes("x-value")]).toEqual([code, isFine && setsValue.has(way)]);
      }
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    });
  });
}
