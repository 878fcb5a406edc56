/** The memory of a listener after a thousand clients that connected and disconnected. */
import { describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { over } from "./holding.ts";
import type { SpawnedServer, Start } from "./server.ts";

/** Twenty of them at once. */
async function areServed(server: SpawnedServer, count: number): Promise<void> {
  const acts = Object.values(over);
  const serve = async (from: number): Promise<void> => {
    for (let i = from; i < count; i += 20) {
      const client = await server.client();
      await acts[i % acts.length]?.(client, server);
      client.leave();
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, from) => serve(from)));
}

export function describeMemory(start: Start): void {
  describe("a thousand clients that connected and disconnected", () => {
    it("leave no more memory than the thousand before them", async () => {
      // Twenty of one address take 8 MB each: on a busy machine one that takes nothing for a second would be cut past its share.
      const server = await start({ sendShare: 268_435_456 });
      const held = async (): Promise<number> => Number(await server.asks("GET /memory"));
      await areServed(server, 1000);
      const before = await held();
      await areServed(server, 1000);
      // What the runtime has compiled meanwhile is a few hundred bytes for each client; a request that is held is 2 KiB and more.
      await eventually(async () => expect((await held()) - before).toBeLessThan(1_000_000));
    });
  });
}
