import { digits, median, rotated, spread, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { postgresServer } from "../harness/postgres.mjs";
import { Process } from "../server/processes.mjs";
import { candidates } from "./candidates.mjs";
import { check, measured, placedByCheck, quantityOfOne } from "./cases.mjs";
import { ordersDatabase } from "./database.mjs";

/** The orders example with PostgreSQL behind it, end to end. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds: roundCount = quick ? 1 : 7 }) {
  const counts = quick ? { get: 4000, post: 1000 } : { get: 20_000, post: 4000 };
  const size = { counts, slices: quick ? 4 : 10, warmUp: quick ? 1000 : 2000 };
  const { url, close } = await postgresServer();
  const rounds = [];
  try {
    for (let round = 0; round < roundCount; round++) rounds.push(await playRound({ ...size, round, url }));
  } finally {
    close();
  }
  const kinds = Object.entries(counts).map(([which, count]) => `${count.toLocaleString("en")} ${measured[which].name}`);
  const bar = (title, unit, figure, better) => {
    const groups = Object.entries(measured).map(([which, { name }]) => [
      name,
      byName(candidates, Object.keys(candidates), (who) => rounds.map((round) => round[who][which][figure])),
    ]);
    return bars({ title, unit, better, baseline: candidates.fastify.name }, Object.fromEntries(groups));
  };
  return section(
    [
      "## The orders example end to end",
      `${kinds.join(" and ")} a round over 64 kept connections, the load in another process. Each candidate has eight connections to the same ` +
        `PostgreSQL server, and a database of its own. An order is placed in a transaction that takes it from the ` +
        `stock and notes the change, and keeps the answer to its idempotency key. Both servers tell a request's id, and an order's version as its entity tag; neither has a ` +
        "deadline for a request, security headers or log lines, which the example's own program adds. CPU is that of the server's process alone. " +
        `Rounds: ${rounds.length}; ` +
        "medians, with the least and the most. A ratio is taken within a round, in which the servers are loaded in turns.",
      ...Object.entries(measured).map(([which, { name }]) => costs(which, name, rounds)),
    ],
    [
      bar("CPU of a request, the orders example", "µs", "cpu", "less"),
      bar("Requests a second, the orders example", "per s", "perSecond", "more"),
      bar("p99, the orders example", "ms", "p99", "less"),
    ],
  );
}

function costs(which, name, rounds) {
  const rows = Object.entries(candidates).map(([who, candidate]) => {
    const used = rounds.map((round) => round[who][which]);
    const ratio = (figure) => spread(rounds.map((round) => round[who][which][figure] / round.fastify[which][figure]));
    const cells = ["p50", "p99"].map((figure) => spread(used.map((each) => each[figure])));
    const perSecond = digits(median(used.map((each) => each.perSecond)));
    return [candidate.name, spread(used.map(({ cpu }) => cpu)), ratio("cpu"), perSecond, ratio("perSecond"), ...cells];
  });
  const head = ["CPU µs a request", "to Fastify", "requests/s", "to Fastify", "p50 ms", "p99 ms"];
  return table([`\`${name}\``, ...head], rows);
}

/** Starts every server in a new process with a new database, warms it up, then loads all in turns, slice by slice. */
async function playRound({ counts, slices, warmUp, round, url }) {
  const load = new Process("load.mjs", []);
  const servers = [];
  for (const [who, { name }] of Object.entries(candidates)) {
    const database = await ordersDatabase(url, `usher_bench_${who}`);
    const process = new Process("../orders/serve.mjs", [who, database.url], { execArgv: ["--expose-gc"] });
    const { port } = await process.next();
    await check(name, port);
    const used = Object.fromEntries(Object.keys(measured).map((which) => [which, { cpu: 0, seconds: 0, times: [] }]));
    servers.push({ who, database, process, port, used, placed: placedByCheck });
  }
  const send = async (server, which, count) => {
    const used = await slice(load, server, measured[which], count);
    if (which === "post") server.placed += used.requests;
    return used;
  };
  for (const server of servers) for (const which of Object.keys(measured)) await send(server, which, warmUp);
  for (const { process } of servers) await process.ask("settle");
  for (const [which, count] of Object.entries(counts)) {
    for (let i = 0; i < slices; i++) {
      for (const server of rotated(servers, round + i)) {
        const { cpu, seconds, times } = await send(server, which, count / slices);
        const used = server.used[which];
        used.cpu += cpu;
        used.seconds += seconds;
        used.times.push(...times);
      }
    }
  }
  const figures = {};
  for (const { who, database, process, used, placed } of servers) {
    await process.stop();
    checkCounts(who, placed, await database.counts());
    await database.drop();
    figures[who] = Object.fromEntries(Object.entries(used).map(([which, each]) => [which, figuresOf(each)]));
  }
  await load.stop();
  return figures;
}

/** Sends `count` requests and returns their cost. The connections are opened before. */
async function slice(load, { process, port }, asked, count) {
  const { requests } = await load.ask({ open: { port, asked } });
  const before = await process.ask("usage");
  // A busy load process would take the processor from the database.
  const { seconds, times } = await load.ask({ count, timed: true, sleeps: true });
  const after = await process.ask("usage");
  await load.ask({ close: true });
  return { cpu: after.cpu - before.cpu, seconds, times, requests: requests + count };
}

/** Checks that every confirmed order is stored once and taken from the stock. */
function checkCounts(who, placed, counts) {
  const quantity = placed * quantityOfOne;
  const expected = { orders: placed, ordered: quantity, taken: quantity, changes: placed };
  if (JSON.stringify(counts) !== JSON.stringify(expected))
    throw new Error(`${who} has ${JSON.stringify(counts)} where there should be ${JSON.stringify(expected)}`);
}

function figuresOf({ cpu, seconds, times }) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { cpu: cpu / times.length, perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99) };
}
