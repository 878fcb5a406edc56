/** Clients that go between their handshake and the 101: up to 2.9.5, Deno keeps the descriptor of such a connection for ever. */
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { start } from "./start.ts";

const folder = mkdtempSync(join(tmpdir(), "usher-left-"));
afterAll(() => rmSync(folder, { recursive: true }));

const opening = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

describe.skipIf(process.platform !== "linux")("a client that resets while its handshake is answered", () => {
  it.each(["false", "true"])("leaves no descriptor behind, of an answer that is a promise: %s", async (later) => {
    const server = await start({}, "blocked-program.ts");
    const open = (): number => readdirSync(`/proc/${server.child.pid}/fd`).length;
    expect(await server.asks("GET /ok")).toBe("ok");
    const before = open();
    for (let i = 0; i < 20; i++) {
      const file = join(folder, `${later}-${i}`);
      const client = await server.client();
      client.ask(`GET /socket?later=${later}&file=${encodeURIComponent(file)}`, opening);
      await server.tells(`asked: ${file}`);
      client.leave();
      writeFileSync(file, "");
      // One that stays is answered, and leaves nothing behind either.
      const other = await server.client();
      other.ask(`GET /socket?later=${later}&file=${encodeURIComponent(file)}`, opening);
      expect((await other.answer()).status).toBe(101);
      await other.send("\u0088\u0080\0\0\0\0").closed();
    }
    await eventually(() => expect(open()).toBeLessThanOrEqual(before));
    expect(await server.asks("GET /ok")).toBe("ok");
  });

  // Deno itself may look between a check and its 101, and then leaks one now and then. Without the check about 220 of 300 leak.
  it.each(["reset", "end"] as const)("leaves at most three of 300 that %s at the same time", async (how) => {
    const server = await start({}, "blocked-program.ts");
    const open = (): number => readdirSync(`/proc/${server.child.pid}/fd`).length;
    let left: number | undefined;
    for (let round = 0; round < 4; round++) {
      const file = join(folder, `${how}-${round}`);
      const clients = await Promise.all(Array.from({ length: 300 }, () => server.client()));
      for (const client of clients) client.ask(`GET /socket?file=${encodeURIComponent(file)}`, opening);
      // The first one blocks the server: the others have left before it looks at them.
      await server.tells(`asked: ${file}`);
      for (const { socket } of clients) {
        if (how === "reset") socket.resetAndDestroy();
        else socket.destroy();
      }
      for (const { socket } of clients) if (!socket.closed) await once(socket, "close");
      writeFileSync(file, "");
      expect(await server.asks("GET /ok")).toBe("ok");
      // The first round opens what Deno needs itself.
      const most = left === undefined ? 100 : left + 3;
      await eventually(() => expect(open()).toBeLessThanOrEqual(most));
      left = open();
    }
  });
});
