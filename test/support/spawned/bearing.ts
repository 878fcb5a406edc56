/** What a server bears: clients that attack or do nothing. None of them stops another or leaves anything behind. */
import { describe, expect, it } from "vitest";
import { connectAll, count, manyDescriptors } from "../connections.ts";
import { unreadable } from "../refusals.ts";
import type { RawClient } from "../raw-client.ts";
import { shared } from "./server.ts";
import type { Start } from "./server.ts";
import { eventually } from "../eventually.ts";

const bytes = "x".repeat(90_000);
const posts = (path: string, framing: string) => [`POST ${path} HTTP/1.1`, "host: h", framing];

/** Ways in which a body of 90 KB arrives incompletely: the client's action, and whether an answer is pending. */
const broken: readonly (readonly [how: string, framing: string, act: (client: RawClient) => void, owed: boolean])[] = [
  ["by a reset", "content-length: 99000", (client) => client.leave(), false],
  ["by closing", "content-length: 99000", (client) => client.close(), false],
  ["by half of it", "content-length: 99000", (client) => client.halfClose(), false],
  ["by a chunk that is none", "transfer-encoding: chunked", (client) => client.send("\r\nzz\r\n"), false],
  ["by nothing more", "content-length: 99000", () => {}, true],
  ["by nothing more, in chunks", "transfer-encoding: chunked", () => {}, true],
];

export function describeBearing(start: Start): void {
  const startShared = shared(start);
  describe("a body that breaks off", () => {
    it.each(broken)("%s holds no memory", async (_how, framing, act, owed) => {
      const server = await startShared({ bodyBudget: 100_000, bodyTimeoutMs: owed ? 300 : 60_000, minBodyRate: 1e9 });
      const sent = framing.startsWith("content") ? bytes : `${bytes.length.toString(16)}\r\n${bytes}`;
      const breakOff = async (): Promise<void> => {
        for (const path of ["/size", "/parts"]) {
          const client = await server.client();
          client.send(...posts(path, framing), "", sent);
          if (path === "/parts") await server.tells("parts: 90000");
          act(client);
          if (owed) expect((await client.answer()).body).toBe(unreadable);
          client.leave();
          // There is room for one alone.
          await eventually(async () => expect(await server.asks("POST /size", bytes)).toBe("90000 bytes"));
        }
      };
      // A runtime opens descriptors of its own when it first needs them.
      await breakOff();
      const before = server.descriptors;
      for (let i = 0; i < 3; i++) await breakOff();
      await eventually(() => expect(server.descriptors).toBeLessThanOrEqual(before + 1));
    });
  });

  it("handlers that never answer block no other request, and are notified when their clients disconnect", async () => {
    const server = await startShared();
    expect(await server.asks("POST /size", bytes)).toBe("90000 bytes");
    const before = server.descriptors;
    const clients = await Promise.all(Array.from({ length: 100 }, () => server.client()));
    for (const client of clients) client.ask("GET /never");
    await eventually(() => expect(server.told.filter((what) => what === "never: asked")).toHaveLength(100));
    expect(await server.asks("GET /hello")).toBe("hi");
    expect(await server.asks("POST /size", bytes)).toBe("90000 bytes");
    for (const client of clients) client.leave();
    await eventually(() => expect(server.told.filter((what) => what === "never: gone")).toHaveLength(100));
    await eventually(() => expect(server.descriptors).toBeLessThanOrEqual(before + 1));
  });

  it("clients that do not read their answer block no other client, and hold nothing after they disconnect", async () => {
    const server = await startShared();
    expect(await server.asks("POST /size", bytes)).toBe("90000 bytes");
    const before = server.descriptors;
    const clients = await Promise.all(Array.from({ length: 20 }, () => server.client()));
    for (const client of clients) {
      client.socket.pause();
      client.ask("GET /large");
    }
    for (let i = 0; i < 10; i++) expect(await server.asks("GET /hello")).toBe("hi");
    for (const client of clients) client.leave();
    await eventually(() => expect(server.descriptors).toBeLessThanOrEqual(before + 1));
  });

  const { isSkipped, why } = manyDescriptors;
  it.skipIf(isSkipped)(`${count} idle connections are nobody's trouble${why}`, async () => {
    const server = await start({ maxConnections: count + 10 });
    expect(await server.asks("GET /hello")).toBe("hi");
    const before = server.descriptors;
    const clients = await connectAll(server.port, "/hello");
    for (let i = 0; i < 10; i++) expect(await server.asks("GET /hello")).toBe("hi");
    if (before > 0) expect(server.descriptors).toBeGreaterThanOrEqual(count / 2);
    clients.send("close");
    await eventually(() => expect(server.descriptors).toBeLessThanOrEqual(before + 1));
    expect(await server.asks("GET /hello")).toBe("hi");
  });
}
