/** Random sequences of everything that happens to hubs over a real PostgreSQL. */
import fc from "fast-check";
import { it } from "vitest";
import { relay } from "usher-http/postgres";
import "../../support/logs.ts";
import { held } from "../../support/eventually.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { HubModel, acts } from "../../support/relays/hub-model.ts";
import { WiredWorld } from "../../support/relays/wired-world.ts";
import { waitMs } from "../../support/patience.ts";

/** How many sequences are played, and from which seed: others by `USHER_MODEL_ROUNDS` and `USHER_MODEL_SEED`. */
const rounds = Number(process.env["USHER_MODEL_ROUNDS"] ?? 4);
const seed = Number(process.env["USHER_MODEL_SEED"] ?? 20_261_122);

const server = await startPostgres();
const watch = observer(server);

it(
  `hubs over PostgreSQL leave nobody with a gap, and nothing behind, in ${rounds} sequences`,
  { timeout: waitMs() + rounds * 60_000 },
  async () => {
    const subscribed = async (): Promise<number> =>
      (await watch`select 1 from pg_stat_activity where application_name = 'usher relay'`).length;
    const open = (port: number) => relay(`postgres://postgres@127.0.0.1:${port}/postgres`, { channel: "model" });
    await held(
      fc.assert(
        fc.asyncProperty(acts(2), async (acts) => {
          const model = await HubModel.open(new WiredWorld(server.port, open, subscribed));
          for (const act of acts) await model.act(act);
          await model.ends();
        }),
        { seed, numRuns: rounds, endOnFailure: true },
      ),
    );
  },
);
