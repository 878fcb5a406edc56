import { rotated, spread, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { Process } from "../server/processes.mjs";
import { candidates } from "./candidates.mjs";

const bytes = 200;

/** One event to many subscribers: the time until all have it, and the CPU. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds: roundCount = quick ? 1 : 7 }) {
  const size = quick ? { subscribers: 500, events: 10 } : { subscribers: 10_000, events: 30 };
  const rounds = [];
  for (let round = 0; round < roundCount; round++) {
    const figures = {};
    for (const who of rotated(Object.keys(candidates), round)) figures[who] = await play(who, size);
    rounds.push(figures);
  }
  const rows = Object.entries(candidates).map(([who, { name }]) => {
    const of = (figure) => spread(rounds.map((round) => round[who][figure]));
    return [name, of("cpu"), of("lastMs"), of("held"), of("memory")];
  });
  const bar = (title, unit, figure) =>
    bars(
      { title, unit, better: "less", baseline: candidates.raw.name },
      {
        "": byName(candidates, Object.keys(candidates), (who) => rounds.map((round) => round[who][figure])),
      },
    );
  return section(
    [
      "## Events to many subscribers, on Node",
      `${size.subscribers.toLocaleString("en")} subscribers in another process, ${size.events} events of ${bytes} bytes, each published ` +
        `when the one before had reached each of them. Rounds: ${rounds.length}. Memory is for each subscriber that waits: what is held of it after a collection, and the process' growth, young generation and all.`,
      table(
        ["", "CPU µs a delivery", "ms to the last subscriber", "KiB held a subscriber", "KiB grown a subscriber"],
        rows,
      ),
    ],
    [
      bar("CPU of a delivery", "µs", "cpu"),
      bar("An event reaches the last subscriber", "ms", "lastMs"),
      bar("Memory that the process grew by, of a subscriber", "KiB", "memory"),
    ],
  );
}

async function play(who, { subscribers, events }) {
  const server = new Process("../fanout/serve.mjs", [who], { execArgv: ["--expose-gc"] });
  const { port } = await server.next();
  const before = await server.ask("settle");
  const clients = new Process("../fanout/subscribe.mjs", [String(port), String(subscribers)]);
  await clients.next();
  const idle = await server.ask("settle");
  const told = { cpu: 0, lastMs: 0 };
  // The first few are warm-up.
  for (let i = -5; i < events; i++) {
    const reached = clients.next();
    const startedAt = performance.now();
    const { cpu } = await server.ask("publish");
    await reached;
    if (i < 0) continue;
    told.lastMs += (performance.now() - startedAt) / events;
    told.cpu += ((await server.ask("used")).cpu - cpu) / events / subscribers;
  }
  await clients.stop();
  await server.stop();
  const grown = (of) => (idle[of] - before[of]) / 1024 / subscribers;
  return { ...told, held: grown("held"), memory: grown("rss") };
}
