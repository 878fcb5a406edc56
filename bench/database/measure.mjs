/** `measure.mjs <candidate> <url> <ms>`: prints its measurements, on any runtime. */
import process from "node:process";
import { candidates } from "./candidates.mjs";

const [, , who, url, ms] = process.argv;
const client = await candidates[who].connect(url);
const rows = 10_000;

const [first] = await Promise.all(Array.from({ length: 64 }, () => client.byId(7)));
if (String(first?.id) !== "7" || first?.name !== "item 7") throw new Error(`${who} answers ${first?.name}`);

// The first run on each connection prepares the statement, so these runs are not measured.
await Promise.all(Array.from({ length: 8 }, () => client.sleep(0.05)));

const figures = {
  "8 at a time": await perSecond(client.byId, 8),
  "64 at a time": await perSecond(client.byId, 64),
  "by text and values, 8 at a time": await perSecond(client.byQuery, 8),
  "by text and values, 64 at a time": await perSecond(client.byQuery, 64),
  "in transactions, 8 at a time": await perSecond(client.inTransaction, 8),
  "behind six slow ones, p99 ms": await behindSlow(),
};
await client.close();
console.log(JSON.stringify(figures));
process.exit(0);

/** Calls per second at a fixed concurrency; the first half is warm-up. */
async function perSecond(act, concurrency) {
  await during(Number(ms) / 2, act, concurrency);
  const startedAt = performance.now();
  const done = await during(Number(ms), act, concurrency);
  return (done * 1000) / (performance.now() - startedAt);
}

async function during(forMs, act, concurrency) {
  let done = 0;
  const until = performance.now() + forMs;
  const worker = async (seed) => {
    for (let id = seed; performance.now() < until; id = (id * 31 + 7) % rows) {
      await act(id + 1);
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, seed) => worker(seed)));
  return done;
}

/** While six of the eight connections run a statement of one second: the time of statements on the others. */
async function behindSlow() {
  const slow = Array.from({ length: 6 }, () => client.sleep(1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const times = await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const startedAt = performance.now();
      await client.byId(at + 1);
      return performance.now() - startedAt;
    }),
  );
  await Promise.all(slow);
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)];
}
