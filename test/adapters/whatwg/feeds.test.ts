/** Streams of events behind `@whatwg-node/server`: what is over is not kept until the app stops. */
import { expect, it } from "vitest";
import { Event, Path, Returns, get } from "usher-http";
import { keepsNothing } from "../../support/memory.ts";
import { logWith } from "../../support/logs.ts";
import { clientOf } from "./adapted.ts";

const Tick = Event.text("tick");

it("a stream that has ended leaves nothing behind", async () => {
  logWith({ level: undefined });
  const ticks = get(Path.of("ticks"), { returns: Returns.events([Tick]) }, () => {
    // So much a stream that a few that are kept are seen.
    const held = Buffer.alloc(100_000, "x");
    return async (send) => void (await send(Event.make(Tick, held.toString("latin1", 0, 1))));
  });
  const client = await clientOf([ticks]);
  await keepsNothing(async () => {
    for (let i = 0; i < 20; i++)
      expect((await client.ask("GET /ticks").answer()).body).toBe("event: tick\ndata: x\n\n");
  });
});
