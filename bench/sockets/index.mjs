import { digits, median, rotated, spread, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { binaries } from "../runtimes/binaries.mjs";
import { Process } from "../server/processes.mjs";
import { candidates } from "./candidates.mjs";

const sockets = 64;
const bytes = 32;
const bare = { usher: "ws", "usher-bun": "bun" };

/** The CPU of an echoed message. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds: roundCount = quick ? 1 : 7 }) {
  const size = quick ? { warmUp: 5000, messages: 20_000 } : { warmUp: 50_000, messages: 200_000 };
  const rounds = [];
  for (let round = 0; round < roundCount; round++) {
    const figures = {};
    for (const who of rotated(Object.keys(candidates), round)) figures[who] = await play(who, size);
    rounds.push(figures);
  }
  const rows = Object.entries(candidates).map(([who, { name }]) => {
    const costs = rounds.map((round) => round[who].cpu);
    const ratios = rounds.map((round) => round[who].cpu / round[bare[who] ?? who].cpu);
    const perSecond = digits(median(rounds.map((round) => round[who].perSecond)));
    return [name, spread(costs), digits(1e6 / median(costs)), spread(ratios), perSecond];
  });
  const on = (whos) => byName(candidates, whos, (who) => rounds.map((round) => round[who].cpu));
  const bar = (where, whos) =>
    bars(
      {
        title: `CPU of an echoed message, on ${where}`,
        unit: "µs",
        better: "less",
        baseline: candidates[whos[0]].name,
      },
      { "": on(whos) },
    );
  return section(
    [
      "## WebSocket echo",
      `${size.messages.toLocaleString("en")} messages of ${bytes} bytes over ${sockets} sockets, each of which waits for its echo; the load ` +
        `in another process. Rounds: ${rounds.length}; medians, with the least and the most. A ratio is taken within a round.`,
      table(["", "CPU µs a message", "messages a second of CPU", "to the bare one", "messages/s"], rows),
    ],
    [bar("Node", ["ws", "usher"]), bar("Bun", ["bun", "usher-bun"])],
  );
}

async function play(who, { warmUp, messages }) {
  const server = new Process(
    "../sockets/serve.mjs",
    [who],
    candidates[who].on === "bun" ? { execPath: binaries.bun().path } : {},
  );
  const { port } = await server.next();
  const load = new Process("../sockets/load.mjs", [port, sockets, bytes].map(String));
  await load.next();
  await load.ask(warmUp);
  const before = await server.ask("used");
  const startedAt = performance.now();
  await load.ask(messages);
  const seconds = (performance.now() - startedAt) / 1000;
  const { cpu } = await server.ask("used");
  await load.stop();
  await server.stop();
  // When the last message is counted, each socket has sent one more.
  const echoed = messages + sockets - 1;
  return { cpu: (cpu - before.cpu) / echoed, perSecond: echoed / seconds };
}
