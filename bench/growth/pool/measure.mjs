/** `node measure.mjs <candidate> <url> <clients> <milliseconds>`: sends what a statement costs with that many clients. */
import { candidates } from "../../database/candidates.mjs";

const [, , who = "usher", url = "", clients, ms] = process.argv;
const rows = 10_000;
const client = await candidates[who].connect(url);

const first = await client.byId(7);
if (first?.name !== "item 7") throw new Error(`${who} answers ${first?.name}`);
// The first run on each connection prepares the statement.
await Promise.all(Array.from({ length: 8 }, () => client.sleep(0.05)));
await during(Number(ms) / 2);
const before = process.cpuUsage();
const startedAt = performance.now();
const times = await during(Number(ms));
const seconds = (performance.now() - startedAt) / 1000;
const { user, system } = process.cpuUsage(before);
await client.close();
const sorted = times.toSorted((a, b) => a - b);
process.send?.(
  {
    perSecond: times.length / seconds,
    cpu: (user + system) / times.length,
    p99: sorted[Math.floor(sorted.length * 0.99)],
  },
  () => process.exit(),
);

async function during(forMs) {
  const times = [];
  const until = performance.now() + forMs;
  const work = async (seed) => {
    for (let id = seed; performance.now() < until; id = (id * 31 + 7) % rows) {
      const sentAt = performance.now();
      await client.byId(id + 1);
      times.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: Number(clients) }, (_, seed) => work(seed)));
  return times;
}
