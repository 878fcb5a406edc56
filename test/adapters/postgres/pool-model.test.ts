/** Random sequences of everything that happens to a pool, after each of which everything is back. */
import fc from "fast-check";
import postgres from "postgres";
import { afterAll, expect, it } from "vitest";
import "../../support/logs.ts";
import { startPostgres } from "../../support/postgres/database.ts";
import { options, sequence } from "./pool-acts.ts";
import { PoolModel } from "./pool-model.ts";
import { holdTheClock } from "./whole.ts";
import { rounds } from "../../support/wide.ts";

/**
 * How many sequences are played, and from which seed: `USHER_MODEL_ROUNDS=2000 USHER_MODEL_SEED=7 npx vitest run
 * test/adapters/postgres/pool-model.test.ts` plays more of them, and others.
 */
const count = Number(process.env["USHER_MODEL_ROUNDS"] ?? rounds(60));
const seed = Number(process.env["USHER_MODEL_SEED"] ?? 20_261_122);

const server = await startPostgres();
// It sets no timers, which would be taken for the pool's.
const watch = postgres(server.url(), {
  max: 1,
  max_lifetime: null,
  idle_timeout: 0,
  backoff: () => 0,
  onnotice: () => {},
});
afterAll(() => watch.end());
await watch.unsafe(`
  create table model (id int, part int);
  create table late (id int unique deferrable initially deferred);
`);

it(
  `a pool is whole, true and empty after each of ${count} sequences`,
  async () => {
    holdTheClock();
    const played = fc.assert(
      fc.asyncProperty(options, sequence, async (options, sequence) => {
        await watch`truncate model`;
        const model = await PoolModel.open(server, watch, options);
        for (const one of sequence) await model.act(one);
        await model.ends();
      }),
      { seed, numRuns: count },
    );
    await expect(played).resolves.toBeUndefined();
  },
  60_000 + count * 10_000,
);
