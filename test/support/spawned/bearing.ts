/** What a server bears: clients that mean it ill or do nothing, of which none stops another or leaves anything behind. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { unreadable } from "../refusals.ts";
import type { RawClient } from "../raw-client.ts";
import type { SpawnedServer, Start } from "./server.ts";
import { eventually } from "../eventually.ts";

const count = 10_000;
const descriptors = Number(spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).stdout);
const tooFew = descriptors < count + 1000;
const why = tooFew ? ` (skipped: \`ulimit -n\` is ${descriptors}, and ${count + 1000} are needed)` : "";

/** A process of its own: the clients and what tests them together would need twice the descriptors. */
const opens = `
const { connect } = require("node:net");
const [port, count] = process.argv.slice(1).map(Number);
const sockets = [];
const open = () => new Promise((resolve, reject) => {
  const socket = connect(port, "127.0.0.1");
  socket.once("error", reject);
  socket.once("connect", () => {
    // Every other one has asked something, and is kept.
    if (sockets.push(socket) % 2 === 0) return resolve();
    socket.once("data", () => resolve()).write("GET /hello HTTP/1.1\\r\\nhost: h\\r\\n\\r\\n");
  });
});
const all = async () => {
  for (let i = 0; i < count; i += 100) await Promise.all(Array.from({ length: 100 }, open));
  process.on("message", () => process.exit());
  process.send("open");
};
void all();
`;

const children: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Descriptors it has open; none known but on Linux. */
function openOf({ child }: SpawnedServer): number {
  const folder = `/proc/${child.pid}/fd`;
  return existsSync(folder) ? readdirSync(folder).length : 0;
}

const bytes = "x".repeat(90_000);
const posts = (path: string, framing: string) => [`POST ${path} HTTP/1.1`, "host: h", framing];

/** Ways a body does not come whole, of which 90 KB came: what is done, and whether an answer is owed. */
const broken: readonly (readonly [how: string, framing: string, act: (client: RawClient) => void, owed: boolean])[] = [
  ["by a reset", "content-length: 99000", (client) => client.leave(), false],
  ["by closing", "content-length: 99000", (client) => client.close(), false],
  ["by half of it", "content-length: 99000", (client) => client.halfClose(), false],
  ["by a chunk that is none", "transfer-encoding: chunked", (client) => client.send("\r\nzz\r\n"), false],
  ["by nothing more", "content-length: 99000", () => {}, true],
  ["by nothing more, in chunks", "transfer-encoding: chunked", () => {}, true],
];

export function describeBearing(start: Start): void {
  describe("a body that breaks off", () => {
    it.each(broken)("%s is not held", async (_how, framing, act, owed) => {
      const server = await start({ bodyBudget: 100_000, bodyTimeoutMs: owed ? 300 : 60_000, minBodyRate: 1e9 });
      const before = openOf(server);
      const sent = framing.startsWith("content") ? bytes : `${bytes.length.toString(16)}\r\n${bytes}`;
      for (let i = 0; i < 3; i++) {
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
      }
      await eventually(() => expect(openOf(server)).toBeLessThanOrEqual(before + 1));
    });
  });

  it("handlers that never answer stop no other, and are told when their clients go", async () => {
    const server = await start();
    const before = openOf(server);
    const clients = await Promise.all(Array.from({ length: 100 }, () => server.client()));
    for (const client of clients) client.ask("GET /never");
    await eventually(() => expect(server.told.filter((what) => what === "never: asked")).toHaveLength(100));
    expect(await server.asks("GET /hello")).toBe("hi");
    expect(await server.asks("POST /size", bytes)).toBe("90000 bytes");
    for (const client of clients) client.leave();
    await eventually(() => expect(server.told.filter((what) => what === "never: gone")).toHaveLength(100));
    await eventually(() => expect(openOf(server)).toBeLessThanOrEqual(before + 1));
  });

  it("clients that take nothing of what they asked for stop no other, and are gone when they are", async () => {
    const server = await start();
    const before = openOf(server);
    const clients = await Promise.all(Array.from({ length: 20 }, () => server.client()));
    for (const client of clients) {
      client.socket.pause();
      client.ask("GET /large");
    }
    for (let i = 0; i < 10; i++) expect(await server.asks("GET /hello")).toBe("hi");
    for (const client of clients) client.leave();
    await eventually(() => expect(openOf(server)).toBeLessThanOrEqual(before + 1));
  });

  it.skipIf(tooFew)(`${count} idle connections are nobody's trouble${why}`, { timeout: 60_000 }, async () => {
    const server = await start({ maxConnections: count + 10 });
    expect(await server.asks("GET /hello")).toBe("hi");
    const before = openOf(server);
    const clients = spawn(process.execPath, ["-e", opens, String(server.port), String(count)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    children.push(clients);
    expect(await once(clients, "message")).toEqual(["open", undefined]);
    for (let i = 0; i < 10; i++) expect(await server.asks("GET /hello")).toBe("hi");
    if (before > 0) expect(openOf(server)).toBeGreaterThanOrEqual(count / 2);
    clients.send("close");
    await eventually(() => expect(openOf(server)).toBeLessThanOrEqual(before + 1));
    expect(await server.asks("GET /hello")).toBe("hi");
  });
}
