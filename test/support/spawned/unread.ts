/** Clients that read nothing of what a server on another runtime sends them. */
import { describe, expect, it } from "vitest";
import { Answer, Path, Returns, Socket, get } from "../../../src/index.ts";
import type { Route } from "../../../src/index.ts";
import type { ServeOptions, Server } from "../../../src/server/options.ts";
import { eventually } from "../eventually.ts";
import type { RawClient } from "../raw-client.ts";
import type { SpawnOptions } from "./options.ts";
import type { SpawnedServer } from "./server.ts";

/** The bytes of `/whole` and `/stream`. */
export const wholeLength: number = 8 * 1024 * 1024;
const message = "x".repeat(32_768);
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });

async function* parts(count: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield new Uint8Array(256 * 1024);
}

const routes: readonly Route[] = [
  get(Path.of("small"), { returns: Returns.text }, () => "small"),
  get(Path.of("whole"), { returns: Returns.response }, () => Answer.make(new Uint8Array(wholeLength))),
  get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts(32))),
  get(Path.of("socket"), { returns: Returns.websocket(texts) }, () => async (socket) => {
    for (let i = 0; i < 256; i++) if (!(await socket.send(message)).ok) return;
  }),
];

/** Serves them: the program of a runtime. */
export async function main(serve: (routes: readonly Route[], options: ServeOptions) => Promise<Server>): Promise<void> {
  const [given = "{}"] = process.argv.slice(2);
  const options = JSON.parse(given) as ServeOptions;
  const { port, url } = await serve(routes, { port: 0, host: "127.0.0.1", ...options });
  console.log(JSON.stringify({ port, url }));
}

const handshake = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==",
];
/** What the log says of them. */
export const said = "clients disconnected past sendBudget";

/** Asks, and reads nothing but the head. */
export async function mute(server: SpawnedServer, path: string): Promise<RawClient> {
  const client = await server.client();
  client.ask(`GET /${path}`, path === "socket" ? handshake : []);
  await client.sees("\r\n\r\n");
  client.socket.pause();
  return client;
}

export function describeUnread(
  start: (options: SpawnOptions) => Promise<SpawnedServer>,
  paths: readonly ("whole" | "stream" | "socket")[],
): void {
  describe("clients that read nothing", () => {
    it.each(paths)(
      "are disconnected past sendBudget, the longest mute first, and one that reads is not: /%s",
      async (path) => {
        const sendBudget = 1024 * 1024;
        const server = await start({ sendBudget, sendShare: sendBudget });
        const first = await mute(server, path);
        const others: RawClient[] = [];
        // What a system buffers on loopback is no part of the budget: the rest of a few clients is too much.
        await eventually(async () => {
          others.push(await mute(server, path));
          expect(server.logged.join()).toContain(said);
        });
        // The first one has read nothing for the longest time.
        let bytes = 0;
        const ended = new Promise<void>((resolve) => {
          first.socket.removeAllListeners("data").on("data", (part: Buffer) => void (bytes += part.byteLength));
          for (const event of ["end", "close"]) first.socket.once(event, () => resolve());
          first.socket.resume();
        });
        await ended;
        expect(bytes).toBeLessThan(wholeLength);
        expect(await server.asks("GET /small")).toBe("small");
        if (path !== "socket") expect((await server.asks(`GET /${path}`)).length).toBe(wholeLength);
        expect(server.errors).toEqual([]);
      },
    );
  });
}
