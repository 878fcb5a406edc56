/** Random sequences of everything that happens to hubs over a real Redis or Valkey. */
import fc from "fast-check";
import { createClient } from "redis";
import { describe, it, onTestFinished } from "vitest";
import { relay } from "usher-http/redis";
import "../../support/logs.ts";
import { held } from "../../support/eventually.ts";
import { RedisServer, ownRedis, redis, redisUrl } from "../../support/redis.ts";
import { HubModel, acts } from "../../support/relays/hub-model.ts";
import { WiredWorld } from "../../support/relays/wired-world.ts";
import { waitMs } from "../../support/patience.ts";

/** How many sequences are played, and from which seed: others by `USHER_MODEL_ROUNDS` and `USHER_MODEL_SEED`. */
const rounds = Number(process.env["USHER_MODEL_ROUNDS"] ?? 4);
const seed = Number(process.env["USHER_MODEL_SEED"] ?? 20_261_122);
const channel = `usher-model-${process.pid}`;

describe.skipIf(redis.isSkipped)(`hubs over Redis${redis.why}`, () => {
  it(
    `leave nobody with a gap, and nothing behind, in ${rounds} sequences`,
    { timeout: waitMs() + rounds * 60_000 },
    async () => {
      const url = new URL(ownRedis.isSkipped && redisUrl !== undefined ? redisUrl : (await RedisServer.start()).url);
      const watch = await createClient({ url: url.href }).connect();
      onTestFinished(() => watch.close());
      const subscribed = async (): Promise<number> => Number((await watch.pubSubNumSub([channel]))[channel]);
      const open = (port: number) => {
        const by = new URL(url);
        by.port = String(port);
        return relay(by.href, { channel });
      };
      await held(
        fc.assert(
          fc.asyncProperty(acts(2), async (acts) => {
            const model = await HubModel.open(new WiredWorld(Number(url.port || 6379), open, subscribed));
            for (const act of acts) await model.act(act);
            await model.ends();
          }),
          { seed, numRuns: rounds, endOnFailure: true },
        ),
      );
    },
  );
});
