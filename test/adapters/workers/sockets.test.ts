/** Sockets of a Worker, which are not told how much their client has taken (issue 5). */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { bundle, start } from "./running.ts";

it.skipIf(process.platform !== "linux")(
  "what is sent as fast as it goes is not kept until it is all there",
  async () => {
    const worker = await start(await bundle({ file: "program.ts" }), { bindings: { WORD: "hello" } });
    const megabytes = (): number => {
      const status = readFileSync(`/proc/${worker.pid}/status`, "utf8");
      return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024;
    };
    const client = await worker.client();
    expect((await client.ask("GET /").answer()).status).toBe(200);
    const before = megabytes();
    const handshake = ["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13"];
    client.ask("GET /heavy", [...handshake, "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="]);
    client.discard();
    let bytes = 0;
    const all = new Promise<void>((resolve) => {
      client.socket.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > 512 * 262_144) resolve();
      });
    });
    await all;
    expect(megabytes() - before).toBeLessThan(80);
  },
);
