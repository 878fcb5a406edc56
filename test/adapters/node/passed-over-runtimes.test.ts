/** Bytes after an ignored upgrade, in the same packet, are answered on each `node:http`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { RawClient, header } from "../../support/raw-client.ts";
import { starts } from "./spawned.ts";

const get = (path: string, ...lines: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, "host: h", ...lines, "", ""].join("\r\n");
const offer = ["connection: upgrade, http2-settings", "upgrade: h2c"];

describe.each(starts)("%s: an upgrade that the server ignores", (runtime, start) => {
  it("is answered with the other requests of its packet, each time", async () => {
    const client = await (await start()).client();
    for (let i = 0; i < 5; i++) {
      client.socket.write(get("/hello", ...offer) + get("/a") + get("/b", ...offer) + get("/hello"));
      const bodies = [];
      for (let n = 0; n < 4; n++) bodies.push((await client.answer()).body);
      expect(bodies).toEqual(["hi", expect.stringContaining('"/a"'), expect.stringContaining('"/b"'), "hi"]);
    }
  });

  it("has its body read, and ends the connection if the runtime drops the bytes after it", async () => {
    const client = await (await start()).client();
    const answer = await client.ask("POST /size", offer, "x".repeat(100_000)).answer();
    expect(answer.body).toBe("100000 bytes");
    if (runtime === "bun") expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    else {
      expect(header(answer, "connection")).toBe("close");
      expect(await client.rest()).toBe("");
    }
  });

  it("keeps the bytes after it wherever a packet ends", async () => {
    const server = await start();
    const text = get("/a", ...offer) + get("/b");
    for (let at = 1; at < text.length; at += 3) {
      const client = await server.client();
      client.socket.write(text.slice(0, at));
      // By then the server has read the first packet.
      expect(await server.asks("GET /hello")).toBe("hi");
      client.socket.write(text.slice(at));
      expect((await client.answer()).body).toContain('"/a"');
      expect((await client.answer()).body).toContain('"/b"');
    }
  });

  it("keeps the requests that wait after it for a slow answer", async () => {
    const server = await start();
    const client = await server.client();
    client.socket.write(get("/later", ...offer) + get("/a") + get("/later"));
    expect((await client.answer()).body).toMatch(/^hi/);
    expect((await client.answer()).body).toContain('"/a"');
    expect((await client.answer()).body).toMatch(/^hi/);
  });

  it("is answered by an app without sockets too", async () => {
    const folder = mkdtempSync(join(tmpdir(), "usher-passed-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const socket = join(folder, "s");
    expect(await (await start()).asks("POST /listen", JSON.stringify({ socket }))).toBe("listening");
    const client = await RawClient.to(socket);
    for (let i = 0; i < 3; i++) {
      client.socket.write(get("/a", ...offer) + get("/b"));
      expect([(await client.answer()).status, (await client.answer()).status]).toEqual([404, 404]);
    }
  });
});
